import type { LeftTogether } from '../../../core/invoice';
import type { InvoiceLine } from './invoice';

/**
 * By id of an invoice line: net amount and taxes that other non-void invoices billed for the same item and period, less
 * credit notes. Late usage, for example, is billed by another invoice.
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
