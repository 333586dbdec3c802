import type { AppliedCredit, CreditGrant } from '../../../core/invoice';
import type { Invoice } from './invoice';

/** Credit grant: the credit of a customer from one source, and what is left of it. */
export interface StoredCreditGrant {
  readonly id: string;
  readonly customerId: string;
  readonly currency: string;
  readonly amount: bigint;
  /** Available for invoices and refunds. */
  readonly remaining: bigint;
  /** Reserved by pending refunds. Credit from a payment is reserved only by refunds of that payment. */
  readonly reserved: bigint;
  /** Paid out by refunds. */
  readonly refunded: bigint;
  /**
   * Taken by lost disputes about the payment that the credit came from. A refund or loss cannot take credit that an
   * invoice has already used. If a credit note on that invoice later gives the credit back as another grant, the amount
   * is taken from that other grant. It is counted in `refunded`, `reserved` or `lost` of this grant.
   */
  readonly lost: bigint;
  /** Id of the invoice, credit note or payment that the credit came from. A source has at most one credit grant. */
  readonly sourceId: string;
  readonly createdAt: Date;
}

/** Credit from one source that an invoice used, in minor units. */
export interface CreditUse {
  readonly invoiceId: string;
  /** Id of the invoice, credit note or payment that the credit came from. */
  readonly sourceId: string;
  readonly amountMinor: bigint;
}

/** The credit balance of a customer, in minor units of its currency. */
export interface CreditBalance {
  readonly customerId: string;
  /** Null until a first amount fixes the currency of the customer. */
  readonly currency: string | null;
  /** Available and reserved credit: the customer's part of the ledger account `customer_credit`. */
  readonly balanceMinor: bigint;
  /** Reserved by pending refunds. */
  readonly reservedMinor: bigint;
}

/** Returns a new credit grant, all of it available. */
export function newGrant(
  grant: Pick<
    StoredCreditGrant,
    'id' | 'customerId' | 'currency' | 'amount' | 'sourceId' | 'createdAt'
  >,
): StoredCreditGrant {
  return { ...grant, remaining: grant.amount, reserved: 0n, refunded: 0n, lost: 0n };
}

/** Returns the part of a credit that invoices have used. */
export function usedByInvoices({
  amount,
  remaining,
  reserved,
  refunded,
  lost,
}: Pick<StoredCreditGrant, 'amount' | 'remaining' | 'reserved' | 'refunded' | 'lost'>): bigint {
  return amount - remaining - reserved - refunded - lost;
}

/** Returns the credit from a negative invoice; null if the total is not negative. */
export function grantOf(
  { id: sourceId, customerId, currency, creditedToBalance: amount }: Invoice,
  grantId: string,
  createdAt: Date,
): StoredCreditGrant | null {
  if (amount === 0n) return null;
  return newGrant({ id: grantId, customerId, currency, amount, sourceId, createdAt });
}

/**
 * Returns the credits available for the next invoice: `grants` after subtracting the used amounts, and the added
 * credit.
 */
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
