import { Injectable } from '@nestjs/common';
import {
  Database,
  ListQuery,
  type ListSummary,
  type Page,
  type PageRequest,
  Reports,
} from '../../platform/database';
import type { SentQuery } from '../payments';
import type { Refund, RefundFilter } from './domain/refund';
import { RefundEntity } from './refund.entity';

const NOTE_ABSENCE = `
  SET provider_attempt = $3, sent_at = $4, absent_since = $5
  WHERE id = $1 AND provider_attempt = $2 AND due_at IS NOT NULL`;

const REPORTED = 'WHERE id = ANY ($1) OR provider_reference = ANY ($2)';

/** Selects succeeded refunds of the provider `$1` that were sent in `[$2, $3)`, after the position `($4, $5)`. */
const SENT = `
  WHERE status = 'succeeded' AND coalesce(sent_at, created_at) >= $2 AND coalesce(sent_at, created_at) < $3
    AND (coalesce(sent_at, created_at), id) > ($4, $5)
    AND (SELECT provider FROM payment WHERE id = payment_id) = $1
  ORDER BY coalesce(sent_at, created_at), id LIMIT $6`;

const OTHER_REFERENCES = `
  SELECT provider_reference AS reference FROM refund
  WHERE payment_id = $1 AND id <> $2 AND provider_reference IS NOT NULL`;

@Injectable()
export class RefundsRepository {
  readonly table = 'refund';
  readonly unanswered = 'provider_reference IS NULL';

  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
  ) {}

  async insert(refund: Refund): Promise<void> {
    await this.database.insert(RefundEntity, refund);
  }

  find(id: string): Promise<Refund | null> {
    return this.database.selectOne(RefundEntity, 'WHERE id = $1', [id]);
  }

  /** Returns the refund that the caller (`actor`) created with this key, or null. */
  findByKey(idempotencyKey: string, actor: string): Promise<Refund | null> {
    return this.database.selectOne(RefundEntity, 'WHERE idempotency_key = $1 AND actor = $2', [
      idempotencyKey,
      actor,
    ]);
  }

  /**
   * Returns the refund of a payment that has the id `reference` at the provider, or null. The caller must have locked
   * the payment.
   */
  findByReference(paymentId: string, reference: string): Promise<Refund | null> {
    return this.database.selectOne(
      RefundEntity,
      'WHERE payment_id = $1 AND provider_reference = $2',
      [paymentId, reference],
    );
  }

  /** Returns the provider's ids of the other refunds of the same payment. */
  async findOtherReferences({ paymentId, id }: Refund): Promise<ReadonlySet<string>> {
    const rows = await this.database.query<{ reference: string }>(OTHER_REFERENCES, [
      paymentId,
      id,
    ]);
    return new Set(rows.map(({ reference }) => reference));
  }

  findByCreditNote(creditNoteId: string): Promise<Refund | null> {
    return this.database.selectOne(RefundEntity, 'WHERE credit_note_id = $1', [creditNoteId]);
  }

  lock(id: string): Promise<Refund | null> {
    return this.database.selectOne(RefundEntity, 'WHERE id = $1 FOR UPDATE', [id]);
  }

  page(filter: RefundFilter, request: PageRequest): Promise<Page<Refund>> {
    return refundQuery(filter).page(this.database, RefundEntity, request);
  }

  summarize(filter: RefundFilter): Promise<readonly ListSummary[]> {
    return refundQuery(filter).summarize(this.reports, { amount: 'amount' });
  }

  async updateOutcome(refund: Refund): Promise<void> {
    await this.database.updateRevised(RefundEntity, refund, [
      'status',
      'failureCode',
      'providerReference',
      'dueAt',
      'leasedBy',
      'attempts',
    ]);
  }

  /**
   * Stores that the provider did not list a refund. Returns the refund, or null if it has got its final outcome or was
   * sent again meanwhile.
   */
  recordAbsence(before: Refund, after: Refund): Promise<Refund | null> {
    return this.database.updateOne(RefundEntity, NOTE_ABSENCE, [
      before.id,
      before.providerAttempt,
      after.providerAttempt,
      after.sentAt,
      after.absentSince,
    ]);
  }

  /** Returns the refunds with one of these ids, or with one of these ids of the provider (`references`). */
  findReported(ids: readonly string[], references: readonly string[]): Promise<readonly Refund[]> {
    return this.database.select(RefundEntity, REPORTED, [ids, references]);
  }

  /** Returns succeeded refunds that were sent to the provider in a period, oldest first. */
  findSent({ provider, from, to, after, limit }: SentQuery): Promise<readonly Refund[]> {
    const { at, id } = after ?? { at: new Date(0), id: '' };
    return this.database.select(RefundEntity, SENT, [provider, from, to, at, id, limit]);
  }
}

function refundQuery(filter: RefundFilter): ListQuery {
  return new ListQuery('refund')
    .where('customer_id = $', filter.customerId)
    .where('payment_id = $', filter.paymentId)
    .where('failure_code = $', filter.failureCode)
    .where('currency = $', filter.currency)
    .whereOneOf('status', filter.statuses)
    .whereBetween('created_at', filter.created)
    .whereAmountBetween('amount', filter.amount);
}
