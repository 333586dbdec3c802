import { isWaiting } from './grace';
import type { Invoice, InvoiceLine } from './invoice';

/** A period of a subscription of which the charges billed in advance are earned. */
export interface EarnedPeriod {
  readonly id: string;
  readonly subscriptionId: string;
  readonly customerId: string;
  readonly currency: string;
  readonly startAt: Date;
  readonly endAt: Date;
  /** `change`: the period was cut short, and only the items of the next period are not earned; `end`: all is earned. */
  readonly end: 'border' | 'change' | 'end';
  /** Items of the next period, where another interval replaced all items. */
  readonly nextItemIds: readonly string[];
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
  if (!isInAdvance) return false;
  if (over.end === 'end' || (period !== null && period.endAt <= over.endAt)) return true;
  return over.end === 'change' && (itemId === null || !over.nextItemIds.includes(itemId));
}
