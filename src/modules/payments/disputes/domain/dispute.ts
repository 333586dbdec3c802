import { nextVersion } from '../../../../core/next-version';
import type { ProviderName } from '../../domain/payment-provider';
import type { DisputeStatus, ReportedDispute } from '../../domain/reported-dispute';
import { greater, lesser } from '../../../../core/money';

/** A claim of the customer's bank against a payment (chargeback), or an inquiry of the bank that may become a claim. */
export interface Dispute extends ReportedDispute {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly paymentId: string;
  readonly provider: ProviderName;
  readonly currency: string;
  /** Withdrawn funds that are lost: the dispute is decided, and the provider has not paid them back. */
  readonly amountLost: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Filter of a list of disputes. A null field matches all disputes. */
export interface DisputeFilter {
  readonly customerId: string | null;
  readonly paymentId: string | null;
  readonly status: DisputeStatus | null;
}

/** Amounts that a change of a dispute posts to the ledger, in minor units. */
export interface DisputeMoney {
  readonly withdrawnMinor: bigint;
  readonly reinstatedMinor: bigint;
  /** Part of `reinstatedMinor` that an earlier report had counted as lost. */
  readonly recoveredMinor: bigint;
  readonly lostMinor: bigint;
}

export interface AppliedReport {
  readonly after: Dispute;
  readonly money: DisputeMoney;
}

/** Returns a new dispute. The caller must then apply the first report with {@link withReport}. */
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
 * Applies a report of the provider. If nothing changes, `after` is the same object as `before`.
 * - Funds are withdrawn at most once. A later report does not change the withdrawn amount.
 * - Withdrawn funds are reinstated (paid back) in one or several parts. A report never lowers the reinstated amount.
 * - If the dispute is lost or closed, the withdrawn funds that were not paid back are lost.
 * - If the dispute is won and the provider paid back only a part, the other part is lost. If the provider paid back
 *   nothing yet, nothing is lost.
 * - Funds that are paid back after a loss lower the loss.
 * @param now time on the customer's clock
 */
export function withReport(before: Dispute, reported: ReportedDispute, now: Date): AppliedReport {
  const amountWithdrawn = before.amountWithdrawn || reported.amountWithdrawn;
  const amountReinstated = greater(
    before.amountReinstated,
    lesser(reported.amountReinstated, amountWithdrawn),
  );
  const reinstatedMinor = amountReinstated - before.amountReinstated;
  const recoveredMinor = lesser(reinstatedMinor, before.amountLost);
  const isLost = isDecided(reported) && before.amountLost === 0n;
  // The provider may pay back the funds of a won dispute later.
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
  return { after: nextVersion(next, now), money };
}

/** Returns true if a dispute is won, lost or closed. The provider can still reopen a decided dispute. */
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
