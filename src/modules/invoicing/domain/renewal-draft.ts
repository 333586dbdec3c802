import { invariant } from '../../../core/invariant';
import { updatedAtAfter } from '../../../core/next-version';
import { type BillingContext, decideInvoice, type NewInvoiceIds } from './decide-invoice';
import type { WaitingDraft } from './grace';
import type { Invoice, InvoiceLine } from './invoice';
import type { BillingRequest } from './billing-request';

export function requestOf(draft: WaitingDraft): BillingRequest {
  const { periodStartAt: startAt, periodEndAt: endAt } = draft;
  const period = startAt === null || endAt === null ? null : { startAt, endAt };
  return {
    ...draft,
    period,
    billingPeriod: period,
    lines: draft.requestedLines,
    lateUsage: draft.reason === 'end' ? 'closed' : 'billed',
  };
}

/**
 * Calculates a draft in its grace period again, with the present usage, taxes and credit. A line keeps its id if its
 * kind, item, period and group are unchanged. Charges in advance for a period that was closed meanwhile are earned, not
 * deferred.
 *
 * @param request the result of {@link requestOf} for the draft
 * @param context the data read for `request`
 * @param earnedUntil time up to which the subscription's charges in advance are earned
 */
export function recalculateDraft(
  draft: Invoice,
  request: BillingRequest,
  context: BillingContext,
  nextLineId: NewInvoiceIds['nextLineId'],
  earnedUntil: Date,
  now: Date,
): Invoice {
  const made = decideInvoice(request, context, { invoiceId: draft.id, nextLineId }, now);
  const { version, createdAt } = draft;
  const lines = withKeptIds(made.lines, draft.lines).map((line) => ({
    ...line,
    isInAdvance: line.isInAdvance && (line.period === null || line.period.endAt > earnedUntil),
  }));
  return { ...made, version, createdAt, updatedAt: updatedAtAfter(draft, made.updatedAt), lines };
}

/** Time up to which charges in advance are earned revenue, by subscription id. */
export type EarnedUntil = ReadonlyMap<string, Date>;

export function earnedUntilOf({ id, subscriptionId }: WaitingDraft, earned: EarnedUntil): Date {
  const until = earned.get(subscriptionId ?? '');
  invariant(until !== undefined, `The draft ${id} bills a subscription that has a period.`);
  return until;
}

/**
 * Returns the drafts with a charge in advance that is not fully earned and is about to be credited. They must be
 * finalized first, because only a finalized charge can be credited.
 */
export function draftsWithCreditedCharges(
  drafts: readonly WaitingDraft[],
  earned: EarnedUntil,
  isTakenBack: (draft: WaitingDraft, itemId: string) => boolean,
): readonly WaitingDraft[] {
  return drafts.filter((draft) => {
    const earnedUntil = earnedUntilOf(draft, earned);
    return draft.requestedLines.some(
      (request) =>
        request.kind === 'charge' &&
        request.isInAdvance &&
        request.period.endAt > earnedUntil &&
        isTakenBack(draft, request.itemId),
    );
  });
}

function withKeptIds(
  lines: readonly InvoiceLine[],
  former: readonly InvoiceLine[],
): readonly InvoiceLine[] {
  const ids = new Map(former.map((line) => [lineKey(line), line.id]));
  return lines.map((line) => ({ ...line, id: ids.get(lineKey(line)) ?? line.id }));
}

/** Returns a key that is unique on an invoice, made of the kind, item, period and usage group of a line. */
function lineKey({ kind, itemId, period, trace }: InvoiceLine): string {
  const usage = trace.kind === 'usage' ? trace : null;
  return JSON.stringify([
    kind,
    itemId,
    period?.startAt,
    period?.endAt,
    usage?.corrects === null ? usage.parts[0]?.group : 'all',
  ]);
}
