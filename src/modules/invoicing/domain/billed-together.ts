import type { LeftTogether } from '../../../core/invoice';
import type { InvoiceLine } from './invoice';

/**
 * Net amount and taxes that other invoices billed for the same item and period, by id of an invoice line. Example:
 * another invoice billed late usage of the period. Void invoices do not count, and credit notes are subtracted.
 */
export type BilledElsewhere = ReadonlyMap<string, LeftTogether>;

/**
 * Returns the same key for two lines of an invoice that bill the same subscription item for the same period. A credit
 * line, or a line without an item, gets a key that no other line has.
 */
export function billedTogetherKey({ id, itemId, kind, period }: InvoiceLine): string {
  if (itemId === null || kind === 'credit') return id;
  return [itemId, period?.startAt.getTime(), period?.endAt.getTime()].join(' ');
}
