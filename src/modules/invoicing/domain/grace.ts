import type { Invoice } from './invoice';
import type { BillingRequest } from './billing-request';

const HOUR_MS = 3_600_000;

/**
 * Returns the end of the grace period, during which an invoice stays a draft; null if it is finalized at once. Only an
 * invoice for the end of a billing period (reason `renewal` or `end`) has a grace period, so that it can bill usage
 * that arrives late. `graceHours` count from the end of the billing period, even if the invoice is made later. An
 * invoice made after these hours has no grace period. An invoice without requested lines has none either, because it
 * only corrects earlier bills.
 */
export function graceEnd(
  { reason, renewsAt, lines }: Pick<BillingRequest, 'reason' | 'renewsAt' | 'lines'>,
  graceHours: number,
  now: Date,
): Date | null {
  if (renewsAt === null || lines.length === 0) return null;
  if (reason !== 'renewal' && reason !== 'end') return null;
  const endAt = new Date(renewsAt.getTime() + graceHours * HOUR_MS);
  return endAt > now ? endAt : null;
}

/** A draft in its grace period, with the requests from which its lines are calculated again when it is finalized. */
export type WaitingDraft = Invoice & {
  readonly finalizesAt: Date;
  readonly requestedLines: NonNullable<Invoice['requestedLines']>;
};

export function isWaiting(invoice: Invoice): invoice is WaitingDraft {
  return invoice.finalizesAt !== null;
}
