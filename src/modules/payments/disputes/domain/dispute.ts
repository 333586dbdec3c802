import type { ProviderName } from '../../domain/payment-provider';
import type { DisputeStatus, ReportedDispute } from '../../domain/reported-dispute';
import { lesser } from '../../../../core/money';

/** Claim of a customer's bank that a payment is not owed. */
export interface Dispute extends ReportedDispute {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly paymentId: string;
  readonly provider: ProviderName;
  readonly currency: string;
  /** Withdrawn funds that were lost and not paid back. */
  readonly amountLost: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Filter of a list; null matches all. */
export interface DisputeFilter {
  readonly customerId: string | null;
  readonly paymentId: string | null;
  readonly status: DisputeStatus | null;
}

/** Amounts to post for a change of a dispute, in this order; 0 if there is nothing to post. */
export interface DisputeMoney {
  readonly withdrawnMinor: bigint;
  readonly reinstatedMinor: bigint;
  /** Part of the reinstated funds that was booked as lost. */
  readonly recoveredMinor: bigint;
  readonly lostMinor: bigint;
}

/** A dispute after a report, and the amounts to post. */
export interface AppliedReport {
  readonly after: Dispute;
  readonly money: DisputeMoney;
}

/** Returns a dispute without funds, to which its first report is then applied. */
export function newDispute(
  of: Pick<Dispute, 'id' | 'customerId' | 'paymentId' | 'provider' | 'currency'>,
  { providerReference, amount }: ReportedDispute,
  now: Date,
): Dispute {
  return {
    ...of,
    version: 0,
    providerReference,
    status: 'inquiry',
    reason: null,
    amount,
    amountWithdrawn: 0n,
    amountReinstated: 0n,
    amountLost: 0n,
    isRefundable: true,
    evidenceDueAt: null,
    createdAt: now,
    updatedAt: now,
  };
}

/**
 * Applies a report of the provider. Returns the same dispute if nothing changed. Funds are withdrawn once and reinstated once:
 * recorded amounts do not change. Funds that are not paid back are lost once the dispute is lost or closed, or once it is won and
 * a part is paid back. Funds that come back after a loss lower the loss.
 * @param now on the customer's clock
 */
export function withReport(before: Dispute, reported: ReportedDispute, now: Date): AppliedReport {
  const amountWithdrawn = before.amountWithdrawn || reported.amountWithdrawn;
  const amountReinstated =
    before.amountReinstated || lesser(reported.amountReinstated, amountWithdrawn);
  const reinstatedMinor = amountReinstated - before.amountReinstated;
  const recoveredMinor = lesser(reinstatedMinor, before.amountLost);
  const isLost = isDecided(reported) && before.amountLost === 0n;
  // The funds of a dispute that was won may be paid back later, but all at once.
  const isAwaited = reported.status === 'won' && amountReinstated === 0n;
  const lostMinor = isLost && !isAwaited ? amountWithdrawn - amountReinstated : 0n;
  const amountLost = before.amountLost - recoveredMinor + lostMinor;
  const money = {
    withdrawnMinor: amountWithdrawn - before.amountWithdrawn,
    reinstatedMinor,
    recoveredMinor,
    lostMinor,
  };
  const { status, reason, amount, isRefundable, evidenceDueAt } = reported;
  const shown = { status, reason, amount, isRefundable, evidenceDueAt };
  const next = { ...before, ...shown, amountWithdrawn, amountReinstated, amountLost };
  if (before.version > 0 && isSame(before, next)) return { after: before, money };
  return { after: { ...next, version: before.version + 1, updatedAt: now }, money };
}

/**
 * Returns true for a report that is older than what is recorded: an undecided report about a dispute that was won or lost, or the
 * report of an inquiry that has since become a dispute or was closed. If two notifications are applied at the same time, the older
 * answer of the provider can arrive last.
 */
export function isOutdated(
  reported: Pick<Dispute, 'status'>,
  { status }: Pick<Dispute, 'status'>,
): boolean {
  if (reported.status === 'inquiry') return status !== 'inquiry';
  return (status === 'won' || status === 'lost') && !isDecided(reported);
}

/** Returns true once the dispute is decided or closed. A closed inquiry may still become a dispute. */
export function isDecided({ status }: Pick<Dispute, 'status'>): boolean {
  return status === 'won' || status === 'lost' || status === 'closed';
}

function isSame(before: Dispute, after: Dispute): boolean {
  return (
    before.status === after.status &&
    before.reason === after.reason &&
    before.amount === after.amount &&
    before.isRefundable === after.isRefundable &&
    before.evidenceDueAt?.getTime() === after.evidenceDueAt?.getTime() &&
    before.amountWithdrawn === after.amountWithdrawn &&
    before.amountReinstated === after.amountReinstated &&
    before.amountLost === after.amountLost
  );
}
