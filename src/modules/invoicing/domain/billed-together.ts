import type { InvoiceLine } from './invoice';

/**
 * Sums of lines that other invoices have for the item and period of a given line, for example because usage arrived
 * late. Lines of void invoices do not count.
 */
export interface BilledElsewhere {
  /** Sum of the net amounts (without tax), less the net amounts that credit notes took back. */
  readonly netMinor: bigint;
  /** Sum of the amounts, less discounts, credit lines and credit notes. */
  readonly heldMinor: bigint;
}

/**
 * Returns true if two lines of an invoice bill the same item for the same period. A credit line, or a line without an
 * item, only matches itself.
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
