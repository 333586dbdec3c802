import { Injectable } from '@nestjs/common';
import {
  Database,
  ListQuery,
  type ListSummary,
  type Page,
  type PageRequest,
  Reports,
} from '../../platform/database';
import type { Payment } from './domain/payment';
import type { PaymentFilter } from './domain/payment-filter';
import type { SentQuery } from './domain/sent-query';
import { PaymentEntity } from './payment.entity';

const IN_REAL_TIME = `
  EXISTS (SELECT FROM customer WHERE customer.id = payment.customer_id AND test_clock_id IS NULL)`;

const RESERVE_REFUND = `
  SET amount_refund_pending = amount_refund_pending + $2, version = version + 1,
    updated_at = greatest(updated_at, $3)
  WHERE id = $1 AND status = 'succeeded' AND NOT is_disputed
    AND amount_refunded + amount_refund_pending + amount_lost + $2 <= amount`;

const RESERVE_MADE_REFUND = `
  SET amount_refund_pending = amount_refund_pending + $2, version = version + 1,
    updated_at = greatest(updated_at, $3)
  WHERE id = $1 AND status = 'succeeded'
    AND amount_refunded + amount_refund_pending + $2 <= amount`;

const SETTLE_REFUND = `
  SET amount_refund_pending = amount_refund_pending - $2, amount_refunded = amount_refunded + $3,
      version = version + 1, updated_at = greatest(updated_at, $4)
  WHERE id = $1`;

const APPLIED_TO_OR_IDS =
  'WHERE invoice_id = ANY ($1) AND amount_applied > 0 OR id = ANY ($2) ORDER BY id';

const WITH_OTHERS_OF_INVOICE = `
  WHERE id = $1 OR id = ANY ($2)
    OR amount_applied > 0 AND invoice_id = (SELECT invoice_id FROM payment WHERE id = $1)
  ORDER BY id FOR NO KEY UPDATE`;

const ATTEMPTS_IN_FLIGHT = `
  SELECT invoice_id FROM payment
  WHERE invoice_id = ANY ($1) AND collection_attempt IS NOT NULL AND due_at IS NOT NULL`;

const KEEP_REFERENCE = `
  UPDATE payment SET provider_reference = coalesce(provider_reference, $2)
  WHERE id = $1 AND due_at IS NOT NULL RETURNING provider_reference`;

const NEXT_ATTEMPT = `
  SET provider_attempt = provider_attempt + 1, sent_at = $3
  WHERE id = $1 AND provider_attempt = $2 AND due_at IS NOT NULL`;

const REPORTED = 'WHERE id = ANY ($1) OR provider_reference = ANY ($2)';

const SENT = `
  WHERE provider = $1 AND status = 'succeeded' AND sent_at >= $2 AND sent_at < $3
    AND (sent_at, id) > ($4, $5)
  ORDER BY sent_at, id LIMIT $6`;

const LOCK_ID = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';

@Injectable()
export class PaymentsRepository {
  readonly table = 'payment';
  /**
   * SQL condition: true if the provider has not answered about the payment yet. A stored reference counts as an answer
   * only with the provider `sandbox`. Other providers give a charge its reference before the charge is confirmed.
   */
  readonly unanswered = `status IN ('pending', 'processing') AND (provider_reference IS NULL OR provider <> 'sandbox')`;

  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
  ) {}

  async insert(payment: Payment): Promise<void> {
    await this.database.insert(PaymentEntity, payment);
  }

  find(id: string): Promise<Payment | null> {
    return this.database.selectOne(PaymentEntity, 'WHERE id = $1', [id]);
  }

  /**
   * Locks the id of a payment until the transaction ends, and returns true if no payment has this id. Only other calls
   * of this method wait for the lock.
   */
  async lockMissing(id: string): Promise<boolean> {
    this.database.requireTransaction();
    await this.database.query(LOCK_ID, [id]);
    return (await this.find(id)) === null;
  }

  lock(id: string): Promise<Payment | null> {
    return this.database.selectOne(PaymentEntity, 'WHERE id = $1 FOR NO KEY UPDATE', [id]);
  }

  /**
   * Locks and returns a payment, all payments that paid parts of its invoice, and the payments in `otherIds`. They stay
   * locked until the transaction ends. Locks by ascending id, so that two refunds of one invoice do not deadlock.
   */
  lockWithOthersOfInvoice(id: string, otherIds: readonly string[]): Promise<readonly Payment[]> {
    return this.database.select(PaymentEntity, WITH_OTHERS_OF_INVOICE, [id, otherIds]);
  }

  /**
   * Locks and returns all payments of the invoices, and the payments in `ids`. They stay locked until the transaction
   * ends.
   */
  lockAll(invoiceIds: readonly string[], ids: readonly string[]): Promise<readonly Payment[]> {
    const tail = 'WHERE invoice_id = ANY ($1) OR id = ANY ($2) ORDER BY id FOR NO KEY UPDATE';
    return this.database.select(PaymentEntity, tail, [invoiceIds, ids]);
  }

  page(filter: PaymentFilter, request: PageRequest): Promise<Page<Payment>> {
    return paymentQuery(filter).page(this.database, PaymentEntity, request);
  }

  summarize(filter: PaymentFilter): Promise<readonly ListSummary[]> {
    return paymentQuery(filter).summarize(this.reports, {
      amount: 'amount',
      amount_refunded: 'amount_refunded',
    });
  }

  /**
   * Locks and returns the payments that paid parts of the invoices, and the payments in `ids`. They stay locked until
   * the transaction ends.
   */
  lockAppliedTo(
    invoiceIds: readonly string[],
    ids: readonly string[] = [],
  ): Promise<readonly Payment[]> {
    const tail = `${APPLIED_TO_OR_IDS} FOR NO KEY UPDATE`;
    return this.database.select(PaymentEntity, tail, [invoiceIds, ids]);
  }

  /** Returns the same payments as {@link lockAppliedTo}, but locks nothing. */
  findAppliedTo(
    invoiceIds: readonly string[],
    ids: readonly string[],
  ): Promise<readonly Payment[]> {
    return this.database.select(PaymentEntity, APPLIED_TO_OR_IDS, [invoiceIds, ids]);
  }

  findBeingCharged(invoiceIds: readonly string[]): Promise<readonly string[]> {
    return this.database.queryValues<string>(ATTEMPTS_IN_FLIGHT, [invoiceIds]);
  }

  /** Writes the fields that an outcome can change. */
  async updateOutcome(payment: Payment): Promise<void> {
    await this.database.updateRevised(PaymentEntity, payment, [
      'status',
      'amountApplied',
      'providerReference',
      'sentAt',
      'failureCode',
      'dueAt',
      'leasedBy',
      'attempts',
    ]);
  }

  /**
   * Stores the reference of a prepared charge, unless the payment already has a reference. All processes thus confirm
   * the same charge. Returns the stored reference; null if the outcome of the payment is final.
   */
  keepReference(id: string, reference: string): Promise<string | null> {
    return this.database.queryValue<string>(KEEP_REFERENCE, [id, reference]);
  }

  /**
   * Increments `providerAttempt`, so that the next requests have other idempotency keys. Must be called only after the
   * outcome of the last request is known. Returns the payment; null if the outcome of the payment is final, or if
   * another process incremented the number first.
   */
  nextAttempt({ id, providerAttempt }: Payment, now: Date): Promise<Payment | null> {
    return this.database.updateOne(PaymentEntity, NEXT_ATTEMPT, [id, providerAttempt, now]);
  }

  /**
   * Reserves an amount for a refund, and returns the payment. Returns null if the payment does not exist, has not
   * succeeded, or is disputed, or if the amount exceeds the part that is not refunded, reserved or lost.
   */
  reserveRefund(id: string, amount: bigint, now: Date): Promise<Payment | null> {
    return this.database.updateOne(PaymentEntity, RESERVE_REFUND, [id, amount.toString(), now]);
  }

  /**
   * Reserves an amount for a refund that was made at the provider, and returns the payment. Disputes do not limit such
   * a refund, because the money has moved. Returns null if the payment does not exist or has not succeeded, or if the
   * amount exceeds the part that is not refunded or reserved.
   */
  reserveForProviderRefund(id: string, amount: bigint, now: Date): Promise<Payment | null> {
    return this.database.updateOne(PaymentEntity, RESERVE_MADE_REFUND, [
      id,
      amount.toString(),
      now,
    ]);
  }

  /**
   * Changes the amounts of a payment after a refund ended or was returned by a bank. Returns the payment, or null if
   * the payment does not exist.
   * @param reserved subtracted from the amount reserved for refunds
   * @param refunded added to the refunded amount: 0 if the refund failed, negative if a bank returned the refund
   */
  settleRefund(id: string, reserved: bigint, refunded: bigint, now: Date): Promise<Payment | null> {
    return this.database.updateOne(PaymentEntity, SETTLE_REFUND, [
      id,
      reserved.toString(),
      refunded.toString(),
      now,
    ]);
  }

  /** Writes the fields of a payment that disputes change. */
  async updateDisputed(payment: Payment): Promise<void> {
    await this.database.updateRevised(PaymentEntity, payment, ['amountLost', 'isDisputed']);
  }

  /**
   * Returns the payments that have one of the ids or one of the references.
   * @param references the provider's ids of charges
   */
  findReported(ids: readonly string[], references: readonly string[]): Promise<readonly Payment[]> {
    return this.database.select(PaymentEntity, REPORTED, [ids, references]);
  }

  /** Returns a page of the succeeded payments that were sent to the provider in a period, oldest first. */
  findSent({ provider, from, to, after, limit }: SentQuery): Promise<readonly Payment[]> {
    const { at, id } = after ?? { at: new Date(0), id: '' };
    return this.database.select(PaymentEntity, SENT, [provider, from, to, at, id, limit]);
  }
}

function paymentQuery(filter: PaymentFilter): ListQuery {
  return new ListQuery('payment')
    .where('customer_id = $', filter.customerId)
    .where('invoice_id = $', filter.invoiceId)
    .whereIf(filter.isInRealTime, IN_REAL_TIME)
    .where('failure_code = $', filter.failureCode)
    .where('currency = $', filter.currency)
    .whereOneOf('status', filter.statuses)
    .whereBetween('created_at', filter.created)
    .whereAmountBetween('amount', filter.amount);
}
