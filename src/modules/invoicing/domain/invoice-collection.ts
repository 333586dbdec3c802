import type { Invoice } from './invoice';

/**
 * Returns when an invoice is charged automatically again after `attemptCount` attempts. This is `now` if the count is
 * 0; null if no attempt is left.
 */
export type RetryPlan = (attemptCount: number, now: Date) => Date | null;

/**
 * Returns the time of the first automatic charge of a new open invoice; null if the invoice is not charged
 * automatically.
 */
export function firstAttemptAt(invoice: Pick<Invoice, 'collection'>, now: Date): Date | null {
  return invoice.collection === 'automatic' ? now : null;
}

/**
 * Returns the time of the next automatic charge of an invoice, after a payment has ended and its reserved amount was
 * freed; null if no further charge is planned.
 * @param wasAttempt true if the payment was a failed automatic charge: `retry` gives the time. Otherwise the charge is
 *   due now, if `retry` still plans one and no payment is pending
 */
export function nextAttemptAt(
  invoice: Invoice,
  wasAttempt: boolean,
  retry: RetryPlan,
  now: Date,
): Date | null {
  // Keeps the instant that `closeCollectionAt` set for an invoice that was voided or written off meanwhile.
  if (invoice.status !== 'open' || invoice.collection !== 'automatic') return invoice.collectAt;
  // Keeps a planned attempt. An automatic charge clears the plan when it begins. So this attempt was planned later,
  // because the customer got another default payment method.
  if (invoice.collectAt !== null) return invoice.collectAt;
  if (wasAttempt) return retry(invoice.attemptCount, now);
  if (invoice.amountPending > 0n) return null;
  return retry(invoice.attemptCount, now) === null ? null : now;
}

/**
 * Returns the `collectAt` of an invoice that is void, written off or wholly credited: `now`. A background job then ends
 * the collection of the invoice, without a charge. It makes the subscription active again if there is no other open
 * invoice. Null if the invoice is not charged automatically or bills no subscription.
 */
export function closeCollectionAt(invoice: Invoice, now: Date): Date | null {
  return invoice.collection === 'automatic' && invoice.subscriptionId !== null ? now : null;
}

/** An open invoice for which an automatic charge was started. */
export interface AttemptedInvoice {
  readonly id: string;
  readonly attemptCount: number;
  readonly isPlanned: boolean;
}

/**
 * Summarizes the failed automatic charges of the open invoices of a subscription:
 * - null: no charge failed.
 * - `failed`: each failed invoice has another attempt planned or in flight, or `retry` has attempts left. While the
 *   customer has no default payment method, none of these is planned.
 * - `used_up`: at least one failed invoice has no further attempt.
 * @param inFlight ids of the invoices with an attempt in flight
 */
export function attemptsFailure(
  attempted: readonly AttemptedInvoice[],
  inFlight: ReadonlySet<string>,
  retry: RetryPlan,
  now: Date,
): 'failed' | 'used_up' | null {
  const failed = attempted.filter(
    ({ id, attemptCount }) => attemptCount > (inFlight.has(id) ? 1 : 0),
  );
  if (failed.length === 0) return null;
  const isTried = failed.every(
    ({ id, attemptCount, isPlanned }) =>
      isPlanned || inFlight.has(id) || retry(attemptCount, now) !== null,
  );
  return isTried ? 'failed' : 'used_up';
}
