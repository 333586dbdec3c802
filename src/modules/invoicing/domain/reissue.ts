import type { Period } from '../../../core/time';
import { type BillingFacts, decideAgain, decideInvoice, type NewIds } from './decide-invoice';
import { creditAgain } from './decide-lines';
import type { Invoice, InvoiceLine } from './invoice';
import type { InvoiceOrder } from './order';

/** How what an invoice billed stands now. */
export interface Standing {
  /** When its items ended, of those that have. */
  readonly itemEnds: ReadonlyMap<string, Date>;
  /** Up to when what was billed in advance is earned; null where nothing is. */
  readonly earnedUntil: Date | null;
  /** Whether its subscription waited for its payment: void without it, it bills what never began. */
  readonly isWithdrawn: boolean;
  /** The billing period that the invoice belongs to; null where it is for no subscription. */
  readonly billingPeriod: Period | null;
  /** Whether nothing follows: what was billed in advance and is still owed is earned. */
  readonly hasEnded: boolean;
}

/**
 * Whether something was changed, or ended with credit, within a period that the invoice billed in advance: it found nothing
 * billed that it could credit, so that the whole price is owed no more. Nor is it for what never began.
 */
export function isOvertaken({ lines }: Invoice, { itemEnds, isWithdrawn }: Standing): boolean {
  if (isWithdrawn) return true;
  return lines.some(({ isInAdvance, kind, itemId, period }) => {
    if (!isInAdvance || kind === 'credit' || itemId === null || period === null) return false;
    const endAt = itemEnds.get(itemId);
    return endAt !== undefined && endAt < period.endAt;
  });
}

/**
 * The draft that bills a void invoice anew: the same charges, and credits for what the credited lines hold by now, with the
 * discounts and taxes of the facts. What is over is earned at once.
 *
 * @param facts with the finalised lines of the items that it credits
 */
export function reissueOf(
  voided: Invoice,
  { earnedUntil, hasEnded }: Standing,
  facts: BillingFacts,
  ids: NewIds,
  now: Date,
): Invoice {
  const { periodStartAt: startAt, periodEndAt: endAt } = voided;
  const order: InvoiceOrder = {
    ...voided,
    // The void invoice keeps the border it renewed at: there is one renewal for each.
    renewsAt: null,
    period: startAt === null || endAt === null ? null : { startAt, endAt },
    billingPeriod: facts.billingPeriod,
    lines: [],
  };
  const isEarned = ({ period }: InvoiceLine): boolean =>
    hasEnded || (earnedUntil !== null && period !== null && period.endAt <= earnedUntil);
  const lines = voided.lines.flatMap((line): InvoiceLine[] => {
    const id = ids.nextLineId();
    if (line.kind !== 'credit') {
      return [{ ...line, id, isInAdvance: line.isInAdvance && !isEarned(line) }];
    }
    const credit = creditAgain(line, facts, id);
    return credit === null ? [] : [{ ...line, ...credit }];
  });
  const empty = decideInvoice(order, { ...facts, usage: [] }, ids, now);
  return decideAgain({ ...empty, reissueOfId: voided.id, lines }, facts);
}
