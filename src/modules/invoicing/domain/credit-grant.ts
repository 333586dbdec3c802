import type { AppliedCredit, CreditGrant } from '../../../core/invoice';
import { changedAt } from '../../../core/next-version';
import type { Invoice } from './invoice';

/** Credit of a customer from one source (an invoice, credit note or payment), and what is left of it. */
export interface StoredCreditGrant {
  readonly id: string;
  readonly customerId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly remaining: bigint;
  /** Reserved by pending refunds. Credit from a payment is reserved only by refunds of that payment. */
  readonly reserved: bigint;
  readonly refunded: bigint;
  /**
   * Taken by lost disputes about the payment that the credit came from. Credit that an invoice used cannot be taken.
   * But a credit note on that invoice may return the used credit as a new grant. Refunds and disputes can take credit
   * from the new grant. The amount taken is counted in `refunded`, `reserved` or `lost` of the payment's grant.
   */
  readonly lost: bigint;
  /** Id of the invoice, credit note or payment that the credit came from. A source has at most one credit grant. */
  readonly sourceId: string;
  readonly createdAt: Date;
}

export interface CreditUse {
  readonly invoiceId: string;
  readonly sourceId: string;
  readonly amountMinor: bigint;
}

/** Credit of a customer, in minor units of the currency. */
export interface CreditBalance {
  readonly customerId: string;
  /** Null until a first amount of money sets the currency of the customer. */
  readonly currency: string | null;
  /** Available and reserved credit: the customer's part of the ledger account `customer_credit`. */
  readonly balanceMinor: bigint;
  readonly reservedMinor: bigint;
}

export function newGrant(
  grant: Pick<
    StoredCreditGrant,
    'id' | 'customerId' | 'currency' | 'amount' | 'sourceId' | 'createdAt'
  >,
): StoredCreditGrant {
  return { ...grant, remaining: grant.amount, reserved: 0n, refunded: 0n, lost: 0n };
}

export function usedByInvoices({
  amount,
  remaining,
  reserved,
  refunded,
  lost,
}: Pick<StoredCreditGrant, 'amount' | 'remaining' | 'reserved' | 'refunded' | 'lost'>): bigint {
  return amount - remaining - reserved - refunded - lost;
}

/** Returns the credit that an invoice with a negative total gives; null if the total is not negative. */
export function grantOf(invoice: Invoice, grantId: string, now: Date): StoredCreditGrant | null {
  const { id: sourceId, customerId, currency, creditedToBalance: amount } = invoice;
  if (amount === 0n) return null;
  const createdAt = changedAt(now, invoice);
  return newGrant({ id: grantId, customerId, currency, amount, sourceId, createdAt });
}

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
