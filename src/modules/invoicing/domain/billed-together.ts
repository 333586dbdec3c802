import type { InvoiceLine } from './invoice';

/**
 * Amounts that other invoices billed for the price and period of a line, for example for late usage. Void invoices do
 * not count.
 */
export interface BilledElsewhere {
  /** Net amounts of these lines without tax, after subtracting the amounts that credit notes took back. */
  readonly netMinor: bigint;
  /** Amounts that these lines still bill, after subtracting discounts, credit lines and credit notes. */
  readonly heldMinor: bigint;
}

/**
 * Returns true if two lines of an invoice bill the same item for the same period. A credit line and a line without an
 * item only match themselves.
 */
export function isBilledWith(one: InvoiceLine, other: InvoiceLine): boolean {
  if (one.id === other.id) return true;
  return (
    one.itemId !== null &&
    one.itemId === other.itemId &&
    one.kind !== 'credit' &&
    other.kind !== 'credit' &&
    one.period?.startAt.getTime() === other.period?.startAt.getTime() &&
    one.period?.endAt.getTime() === other.period?.endAt.getTime()
  );
}
