import type { LeftTogether } from '../../../core/invoice';
import type { InvoiceLine } from './invoice';

/**
 * Sums, by line id, of what is left of the lines that other invoices have for the item and period of the line, for
 * example because usage arrived late. Lines of void invoices do not count.
 */
export type BilledElsewhere = ReadonlyMap<string, LeftTogether>;

/**
 * Returns a key that two lines of an invoice share if they bill the same item for the same period. A credit line, or a
 * line without an item, has a key of its own.
 */
export function billedTogetherKey({ id, itemId, kind, period }: InvoiceLine): string {
  if (itemId === null || kind === 'credit') return id;
  return [itemId, period?.startAt.getTime(), period?.endAt.getTime()].join(' ');
}
