import type { Period } from '../../../core/time';
import {
  type BillingContext,
  decideAgain,
  decideInvoice,
  type NewInvoiceIds,
} from './decide-invoice';
import { type CorrectionTerms, correctionTerms } from './correction-terms';
import { creditAgain } from './decide-lines';
import { type LimitCredit, limitCredits, limitTaken } from './given-back';
import type { Invoice, InvoiceLine } from './invoice';
import type { InvoiceOrder } from './order';
import { correctionOf, ratedAgain, type UsageTrace } from './usage';

/** Present state of the charges that a void invoice billed. */
export interface Standing {
  readonly itemEnds: ReadonlyMap<string, Date>;
  /** Instant up to which charges in advance are earned; null where none is. */
  readonly earnedUntil: Date | null;
  /** True if the subscription waited for payment of this invoice. Without it the billed period never began. */
  readonly isWithdrawn: boolean;
  /** The billing period that the invoice belongs to; null where it is for no subscription. */
  readonly billingPeriod: Period | null;
  /** True if the subscription has ended. Charges in advance that are still owed are then earned. */
  readonly hasEnded: boolean;
}

/**
 * Returns true if an item was changed, or ended with credit, within a period that the invoice billed in advance. The void
 * invoice held nothing to credit then, so the whole price is not owed any more. Nor is it if the period never began.
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
 * Returns the draft that regenerates a void invoice: the same charges, and credits for the rest that the credited lines
 * still hold, with the discounts and taxes of the context. Periods that are over are earned at once.
 *
 * @param context with the finalized lines of the items that it credits
 */
export function regeneratedFrom(
  voided: Invoice,
  { earnedUntil, hasEnded }: Standing,
  context: BillingContext,
  ids: NewInvoiceIds,
  now: Date,
): Invoice {
  const { periodStartAt: startAt, periodEndAt: endAt } = voided;
  const order: InvoiceOrder = {
    ...voided,
    // The void invoice keeps the boundary it renewed at: there is one renewal for each.
    renewsAt: null,
    period: startAt === null || endAt === null ? null : { startAt, endAt },
    billingPeriod: context.billingPeriod,
    lines: [],
  };
  const isEarned = ({ period }: InvoiceLine): boolean =>
    hasEnded || (earnedUntil !== null && period !== null && period.endAt <= earnedUntil);
  const limit = limitCredits(context.creditable);
  const corrections = correctionTerms(context);
  const lines = voided.lines.flatMap((line): InvoiceLine[] => {
    const id = ids.nextLineId();
    if (line.trace.kind === 'usage' && line.trace.corrects !== null) {
      return [{ ...correctedAgain(line, line.trace, limit, corrections), id }];
    }
    if (line.kind !== 'credit') {
      return [{ ...line, id, isInAdvance: line.isInAdvance && !isEarned(line) }];
    }
    const credit = creditAgain(line, context, limit, id);
    return credit === null ? [] : [{ ...line, ...credit }];
  });
  const empty = decideInvoice(order, { ...context, usage: [] }, ids, now);
  return decideAgain({ ...empty, reissueOfId: voided.id, lines }, context);
}

/**
 * Returns a correction of usage with what refunds left since of the invoices that it takes from, or with what coupons have
 * left for usage that it adds.
 */
function correctedAgain(
  line: InvoiceLine,
  trace: UsageTrace,
  limit: LimitCredit,
  corrections: CorrectionTerms,
): InvoiceLine {
  const { corrects, limits } = trace;
  if (corrects?.billedBy !== undefined) {
    const billedBy = corrections.addedAgain(corrects.billedBy, line.amount);
    return { ...line, trace: { ...trace, corrects: { ...corrects, billedBy } } };
  }
  if (corrects?.held === undefined || corrects.taken === undefined) return line;
  const { taken, mostMinor } = limitTaken(corrects.taken, corrects.held, limit);
  const limited = mostMinor === null ? corrects : { ...corrects, mostMinor };
  const { amountMinor: amount, returned } = correctionOf(ratedAgain(trace), limits, limited);
  corrections.returned(returned);
  if (mostMinor === null) return line;
  return { ...line, amount, trace: { ...trace, corrects: { ...limited, returned, taken } } };
}
