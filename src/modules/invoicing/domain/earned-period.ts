import { isWaiting } from './grace';
import type { Invoice, InvoiceLine } from './invoice';

/** A closed period of a subscription: the charges that were billed in advance for it are earned. */
export interface EarnedPeriod {
  readonly id: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly currency: string;
  readonly startAt: Date;
  readonly endAt: Date;
  /** Items of the subscription that had not ended before the period. */
  readonly itemIds: readonly string[];
  /** True if no item continues. Then charges beyond the end of the period are earned as well. */
  readonly endsItems: boolean;
}

/** Returns an invoice with its lines marked as released that are earned with it; drafts that wait release nothing. */
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
