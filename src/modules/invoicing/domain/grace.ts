import type { Invoice } from './invoice';
import type { BillingRequest } from './billing-request';

const HOUR_MS = 3_600_000;

/**
 * Returns the instant until which an invoice stays a draft; null if it is finalized at once. An invoice for the end of
 * a billing period (reason `renewal` or `end`) stays a draft for the given hours, and bills usage that arrives
 * meanwhile. The hours count from the end of the period, even if the invoice is made later. A request without lines,
 * which bills only late usage, is finalized at once. So is an invoice that is made after these hours.
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

/**
 * A draft in its grace period, with the requests from which its lines are calculated again when the grace period ends.
 */
export type WaitingDraft = Invoice & {
  readonly finalizesAt: Date;
  readonly requestedLines: NonNullable<Invoice['requestedLines']>;
};

export function isWaiting(invoice: Invoice): invoice is WaitingDraft {
  return invoice.finalizesAt !== null;
}
