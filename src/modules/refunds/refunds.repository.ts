import { Injectable } from '@nestjs/common';
import { Database, type Page, pageById, type PageRequest } from '../../platform/database';
import type { Lease } from '../payments';
import type { Refund } from './domain/refund';
import { RefundEntity } from './refund.entity';

const CLAIM_DUE = `
  UPDATE refund SET due_at = $2, leased_by = $4 WHERE id IN (
    SELECT id FROM refund WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
  RETURNING id`;

const REMOVE = 'DELETE FROM refund WHERE payment_id = ANY ($1) RETURNING id';

@Injectable()
export class RefundsRepository {
  constructor(private readonly database: Database) {}

  async insert(refund: Refund): Promise<void> {
    await this.database.insert(RefundEntity, refund);
  }

  find(id: string): Promise<Refund | null> {
    return this.database.selectOne(RefundEntity, 'WHERE id = $1', [id]);
  }

  /** Returns the refund that the principal created with this key, or null. */
  findByKey(idempotencyKey: string, actor: string): Promise<Refund | null> {
    return this.database.selectOne(RefundEntity, 'WHERE idempotency_key = $1 AND actor = $2', [
      idempotencyKey,
      actor,
    ]);
  }

  /** The refund, locked until the transaction ends. */
  lock(id: string): Promise<Refund | null> {
    this.database.requireTransaction();
    return this.database.selectOne(RefundEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  page(paymentId: string | null, request: PageRequest): Promise<Page<Refund>> {
    const query = this.refunds.createQueryBuilder('refund');
    if (paymentId !== null) query.where('refund.paymentId = :paymentId', { paymentId });
    return pageById(query, request);
  }

  /** Writes what an outcome may change. */
  async updateOutcome(refund: Refund): Promise<void> {
    const { status, failureCode, dueAt, leasedBy, attempts, version, updatedAt } = refund;
    await this.database.update(RefundEntity, refund.id, {
      status,
      failureCode,
      dueAt,
      leasedBy,
      attempts,
      version,
      updatedAt,
    });
  }

  /** Ids of refunds whose provider is to be asked, leased to the caller. */
  async claimDue(now: Date, lease: Lease, most: number): Promise<readonly string[]> {
    const parameters = [now, lease.endsAt, most, lease.owner];
    const rows = await this.database.query<{ id: string }>(CLAIM_DUE, parameters);
    return rows.map(({ id }) => id);
  }

  /** Removes the refunds of payments; returns their ids. */
  async removeOf(paymentIds: readonly string[]): Promise<readonly string[]> {
    this.database.requireTransaction();
    const rows = await this.database.query<{ id: string }>(REMOVE, [paymentIds]);
    return rows.map(({ id }) => id);
  }

  private get refunds() {
    return this.database.repository(RefundEntity);
  }
}
