import { isWaiting } from './grace';
import type { Invoice, InvoiceLine } from './invoice';

/** A closed period of a subscription. Charges in advance for this period are now earned revenue. */
export interface EarnedPeriod {
  readonly id: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly currency: string;
  readonly startAt: Date;
  readonly endAt: Date;
  /** Items of the subscription that did not end before the period. */
  readonly itemIds: readonly string[];
  /** True if all items end with the period. Charges in advance for later time are then earned as well. */
  readonly endsItems: boolean;
}

/**
 * Returns the invoice with its earned lines marked as released (from deferred revenue). Returns a draft in its grace
 * period unchanged.
 */
export function withEarned(invoice: Invoice, earned: readonly EarnedPeriod[]): Invoice {
  const over = earned.find(({ subscriptionId }) => subscriptionId === invoice.subscriptionId);
  if (over === undefined || isWaiting(invoice)) return invoice;
  const lines = invoice.lines.map((line) =>
    isEarned(line, over) ? { ...line, isReleased: true } : line,
  );
  return { ...invoice, lines };
}

function isEarned({ isInAdvance, itemId, period }: InvoiceLine, over: EarnedPeriod): boolean {
  if (!isInAdvance || itemId === null || !over.itemIds.includes(itemId)) return false;
  return over.endsItems || (period !== null && period.endAt <= over.endAt);
}
