import { invariant } from '../invariant';
import { lesser, nonNegative } from '../money';
import type { AppliedCredit } from './line';

/** Remaining amount of one credit, from a credit note, a negative invoice or a payment. */
export type CreditGrant = {
  readonly creditId: string;
  readonly createdAt: Date;
  readonly remainingMinor: bigint;
  readonly currency: string;
};

/**
 * Uses credits to pay `totalMinor`, oldest first. Credits of the same time are used in the given order. Returns the
 * used credits with the amounts used. The list is empty for a total of zero or less.
 * @throws InvariantError when a credit is in another currency or below zero.
 */
export function applyCredits(
  totalMinor: bigint,
  currency: string,
  grants: readonly CreditGrant[],
): AppliedCredit[] {
  for (const grant of grants) {
    invariant(grant.currency === currency, 'credits are in the currency of the invoice');
    invariant(grant.remainingMinor >= 0n, 'a credit is not negative');
  }
  const oldestFirst = [...grants].sort(
    (left, right) => left.createdAt.getTime() - right.createdAt.getTime(),
  );
  let dueMinor = nonNegative(totalMinor);
  const used: AppliedCredit[] = [];
  for (const { creditId, remainingMinor } of oldestFirst) {
    const amountMinor = lesser(remainingMinor, dueMinor);
    if (amountMinor > 0n) {
      used.push({ creditId, amountMinor });
      dueMinor -= amountMinor;
    }
  }
  return used;
}
