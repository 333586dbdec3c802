import type { InvoiceLine } from './invoice';

/**
 * Sums of the lines of other invoices for the item and period of a line, for example for late usage. Lines of void
 * invoices do not count.
 */
export interface BilledElsewhere {
  /** Sum of their net amounts (without tax), after subtracting the net amounts that credit notes took back. */
  readonly netMinor: bigint;
  /** Sum of their amounts, after subtracting discounts, credit lines and credit notes. */
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
