import { invariant } from '../../../core/invariant';
import { type BillingFacts, decideInvoice, type NewIds } from './decide-invoice';
import type { WaitingDraft } from './grace';
import type { Invoice, InvoiceLine } from './invoice';
import type { InvoiceOrder } from './order';

/** What a draft that waits was ordered as. */
export function orderOf(draft: WaitingDraft): InvoiceOrder {
  const { periodStartAt: startAt, periodEndAt: endAt } = draft;
  const period = startAt === null || endAt === null ? null : { startAt, endAt };
  return {
    ...draft,
    period,
    billingPeriod: period,
    lines: draft.orderedLines,
    lateUsage: draft.reason === 'end' ? 'closed' : 'billed',
  };
}

/**
 * A draft that waited, made anew of its order: with the usage, taxes and credit of now. A line that says the same of the
 * same keeps its id. What is paid in advance for a period that was closed meanwhile is earned, and not deferred any more.
 *
 * @param order {@link orderOf} the draft, for which the facts were read
 * @param earnedUntil up to when its subscription has earned what it was billed in advance
 */
export function renewDraft(
  draft: Invoice,
  order: InvoiceOrder,
  facts: BillingFacts,
  nextLineId: NewIds['nextLineId'],
  earnedUntil: Date,
  now: Date,
): Invoice {
  const made = decideInvoice(order, facts, { invoiceId: draft.id, nextLineId }, now);
  const { version, createdAt, updatedAt } = draft;
  const lines = withKeptIds(made.lines, draft.lines).map((line) => ({
    ...line,
    isInAdvance: line.isInAdvance && (line.period === null || line.period.endAt > earnedUntil),
  }));
  return { ...made, version, createdAt, updatedAt, lines };
}

/** Until when subscriptions have earned what they were billed in advance, by id. */
export type EarnedUntil = ReadonlyMap<string, Date>;

/** Returns until when the subscription of a draft has earned what it was billed in advance. */
export function earnedUntilOf({ id, subscriptionId }: WaitingDraft, earned: EarnedUntil): Date {
  const until = earned.get(subscriptionId ?? '');
  invariant(until !== undefined, `The draft ${id} bills a subscription that has a period.`);
  return until;
}

/** Returns the drafts that charge for time their subscription has not earned: once finalized, it can be credited. */
export function draftsBeyond(
  drafts: readonly WaitingDraft[],
  earned: EarnedUntil,
): readonly WaitingDraft[] {
  return drafts.filter((draft) => billsBeyond(draft, earnedUntilOf(draft, earned)));
}

function billsBeyond({ orderedLines }: WaitingDraft, earnedUntil: Date): boolean {
  return orderedLines.some(
    (order) => order.kind === 'charge' && order.isInAdvance && order.period.endAt > earnedUntil,
  );
}

function withKeptIds(
  lines: readonly InvoiceLine[],
  former: readonly InvoiceLine[],
): readonly InvoiceLine[] {
  const ids = new Map(former.map((line) => [subjectOf(line), line.id]));
  return lines.map((line) => ({ ...line, id: ids.get(subjectOf(line)) ?? line.id }));
}

/** What a line is about: no two of an invoice are about the same. */
function subjectOf({ kind, itemId, period, trace }: InvoiceLine): string {
  const usage = trace.kind === 'usage' ? trace : null;
  return JSON.stringify([
    kind,
    itemId,
    period?.startAt,
    period?.endAt,
    usage?.corrects === null ? usage.parts[0]?.group : 'all',
  ]);
}
