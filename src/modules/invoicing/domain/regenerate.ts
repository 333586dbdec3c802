import type { Period } from '../../../core/time';
import {
  type BillingContext,
  reassembleDraft,
  decideInvoice,
  type NewInvoiceIds,
} from './decide-invoice';
import { correctionTerms } from './correction-terms';
import { recalculateCredit, sortRank } from './decide-lines';
import { lateUsageLine } from './decide-usage-lines';
import { limitCredits } from './given-back';
import type { Invoice, InvoiceLine } from './invoice';
import type { BillingRequest } from './billing-request';
import { billsSameUsage, type UsageToRebill } from './usage-to-rebill';

export interface ChargeState {
  readonly itemEnds: ReadonlyMap<string, Date>;
  /** Time up to which charges in advance are earned revenue; null: no charge is earned. */
  readonly earnedUntil: Date | null;
  /**
   * True for the void first invoice of a subscription that would have started only when this invoice was paid. Its
   * period never began.
   */
  readonly hasNeverBegun: boolean;
  readonly billingPeriod: Period | null;
  /** True if the subscription has ended. All charges in advance that are billed again are then earned revenue. */
  readonly hasEnded: boolean;
}

/**
 * Returns true if a void invoice must not be billed again. There are two cases:
 * - Its period never began.
 * - An item billed in advance changed within the period, or ended within it with a credit for unused time. The full
 *   price is then no longer owed, but the unused part was not credited, because lines of a void invoice cannot be
 *   credited.
 */
export function isNoLongerOwed(
  { lines }: Invoice,
  { itemEnds, hasNeverBegun }: ChargeState,
): boolean {
  if (hasNeverBegun) return true;
  return lines.some(({ isInAdvance, kind, itemId, period }) => {
    if (!isInAdvance || kind === 'credit' || itemId === null || period === null) return false;
    const endAt = itemEnds.get(itemId);
    return endAt !== undefined && endAt < period.endAt;
  });
}

/**
 * Returns the draft that regenerates a void invoice. It has the same charges, the usage that is still to be billed, and
 * the same credits. A credit is at most what is now left of the credited line. Discounts and taxes are those of the
 * context. Charges in advance for periods that are over are earned at once, not deferred.
 *
 * @param context has the finalized lines of the items that the void invoice credits
 */
export function regeneratedFrom(
  voided: Invoice,
  { earnedUntil, hasEnded }: ChargeState,
  context: BillingContext & UsageToRebill,
  ids: NewInvoiceIds,
  now: Date,
): Invoice {
  const { periodStartAt: startAt, periodEndAt: endAt } = voided;
  const { first, late } = context;
  const request: BillingRequest = {
    ...voided,
    // `renewsAt` is unique in a subscription, and the void invoice keeps it.
    renewsAt: null,
    period: startAt === null || endAt === null ? null : { startAt, endAt },
    billingPeriod: context.billingPeriod,
    lines: first.map((one) => one.request),
  };
  const isEarned = ({ period }: InvoiceLine): boolean =>
    hasEnded || (earnedUntil !== null && period !== null && period.endAt <= earnedUntil);
  const limit = limitCredits(context.creditable);
  const corrections = correctionTerms(context);
  const same = voided.lines.flatMap((line): InvoiceLine[] => {
    if ([...first, ...late].some((one) => billsSameUsage(line, one))) return [];
    const id = ids.nextLineId();
    if (line.kind !== 'credit') {
      return [{ ...line, id, isInAdvance: line.isInAdvance && !isEarned(line) }];
    }
    const credit = recalculateCredit(line, context, limit, id);
    return credit === null ? [] : [{ ...line, ...credit }];
  });
  const corrected = late.flatMap((one): InvoiceLine[] => {
    const like = voided.lines.find((line) => billsSameUsage(line, one));
    const line = lateUsageLine(one, corrections, limit, ids.nextLineId);
    return like === undefined || line === null ? [] : [{ ...like, ...line }];
  });
  const regenerated = decideInvoice(request, { ...context, usage: first }, ids, now);
  const lines = [...same, ...regenerated.lines, ...corrected].toSorted(
    (one, other) => sortRank(one) - sortRank(other),
  );
  return reassembleDraft({ ...regenerated, reissueOfId: voided.id, lines }, context);
}
