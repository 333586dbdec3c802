import { Injectable } from '@nestjs/common';
import { Database, ListQuery, type Page, type PageRequest } from '../../../platform/database';
import { DiscrepancyEntity } from './discrepancy.entity';
import type { Discrepancy, DiscrepancyStatus } from './domain/discrepancy';

const IS_KNOWN = `
  SELECT id FROM provider_discrepancy
  WHERE subject_id = $1 AND recorded_status = $2 AND reported_status = $3 AND status <> 'applied'`;

const REFUND_REPORTS = `
  SELECT refund_id AS "refundId", provider_reference AS reference FROM provider_discrepancy
  WHERE payment_id = $1 AND refund_id IS NOT NULL AND provider_reference IS NOT NULL`;

const OPEN_REPORT = `
  WHERE subject_id = $1 AND status = 'open' AND reported_status = 'succeeded' AND provider_reference = $2 FOR UPDATE`;

const COUNT_OPEN = `
  SELECT count(*) FILTER (WHERE refund_id IS NULL)::int AS payment, count(refund_id)::int AS refund
  FROM provider_discrepancy WHERE status = 'open'`;

/** A report that a refund succeeded after it had failed or was canceled here. */
export interface RefundReport {
  readonly refundId: string;
  /** The provider's id of the refund. */
  readonly reference: string;
}

@Injectable()
export class DiscrepanciesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Stores a discrepancy and returns true. If the same discrepancy is already open or was dismissed, stores nothing and
   * returns false. The caller must have locked the payment, so that concurrent reports are not stored twice.
   */
  async insert(discrepancy: Discrepancy): Promise<boolean> {
    this.database.requireTransaction();
    const { paymentId, refundId, recordedStatus, reportedStatus } = discrepancy;
    const subjectId = refundId ?? paymentId;
    const key = [subjectId, recordedStatus, reportedStatus];
    if ((await this.database.query(IS_KNOWN, key)).length > 0) return false;
    await this.database.insert(DiscrepancyEntity, { ...discrepancy, subjectId });
    return true;
  }

  find(id: string): Promise<Discrepancy | null> {
    return this.database.selectOne(DiscrepancyEntity, 'WHERE id = $1', [id]);
  }

  /** Returns all reports about refunds of a payment: open, applied and dismissed. */
  refundReportsOf(paymentId: string): Promise<readonly RefundReport[]> {
    return this.database.query<RefundReport>(REFUND_REPORTS, [paymentId]);
  }

  /**
   * Locks and returns the open report that a refund has succeeded; null if there is none. The caller must have locked
   * the payment.
   * @param reference the provider's id of the refund
   */
  lockOpenReport(refundId: string, reference: string): Promise<Discrepancy | null> {
    return this.database.selectOne(DiscrepancyEntity, OPEN_REPORT, [refundId, reference]);
  }

  /**
   * Locks a discrepancy until the transaction ends. A discrepancy of a payment is locked after the customer, and before
   * the payment and its invoice. A discrepancy of a refund is locked after the payment.
   */
  lock(id: string): Promise<Discrepancy | null> {
    return this.database.selectOne(DiscrepancyEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  async updateStatus(discrepancy: Discrepancy): Promise<void> {
    await this.database.updateRevised(DiscrepancyEntity, discrepancy, ['status']);
  }

  async countOpen(): Promise<{ readonly payment: number; readonly refund: number }> {
    const [counts] = await this.database.query<{ payment: number; refund: number }>(COUNT_OPEN);
    return counts ?? { payment: 0, refund: 0 };
  }

  page(status: DiscrepancyStatus | null, request: PageRequest): Promise<Page<Discrepancy>> {
    const query = new ListQuery('provider_discrepancy').where('status = $', status);
    return query.page(this.database, DiscrepancyEntity, request);
  }
}
