import type { AppliedCredit, CreditGrant } from '../../../core/invoice';
import type { Invoice } from './invoice';

/** Credit of a customer, and what is left of it. */
export interface StoredCreditGrant {
  readonly id: string;
  readonly customerId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly remaining: bigint;
  /** The invoice or credit note it comes from. */
  readonly sourceId: string;
  readonly createdAt: Date;
}

/** The credit that a negative invoice becomes; null where it is not negative. */
export function grantOf(
  { id: sourceId, customerId, currency, creditedToBalance: amount }: Invoice,
  grantId: string,
  createdAt: Date,
): StoredCreditGrant | null {
  if (amount === 0n) return null;
  return { id: grantId, customerId, currency, amount, remaining: amount, sourceId, createdAt };
}

/** What a customer has left after an invoice that used some of it and may have added some: the next invoice's credit. */
export function creditAfter(
  grants: readonly CreditGrant[],
  used: readonly AppliedCredit[],
  added: StoredCreditGrant | null,
): readonly CreditGrant[] {
  const left = grants.map((grant) => {
    const taken = used.find(({ creditId }) => creditId === grant.creditId)?.amountMinor ?? 0n;
    return { ...grant, remainingMinor: grant.remainingMinor - taken };
  });
  return added === null ? left : [...left, toCreditGrant(added)];
}

export function toCreditGrant({
  id: creditId,
  createdAt,
  remaining: remainingMinor,
  currency,
}: StoredCreditGrant): CreditGrant {
  return { creditId, createdAt, remainingMinor, currency };
}
