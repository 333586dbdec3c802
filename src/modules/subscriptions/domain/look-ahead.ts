import { decideDue } from './decide';
import { activated, isAwaitingPayment } from './first-payment';
import type { NewSubscriptionIds, Outcome } from './outcome';
import type { Snapshot, SubscriptionItem } from './subscription';

/**
 * Maximum number of steps of due work to look ahead for the next invoice. Several steps in a row may bill nothing: the
 * start of a trial, the announcement of its end, and its end.
 */
const MAX_DECISIONS_AHEAD = 4;

/** A decision that may make the next invoice, and the time of that invoice. */
export interface NextBilling {
  readonly outcome: Outcome;
  readonly at: Date;
}

/**
 * Returns the decisions that may make the next invoice, in the order of their times. The first candidate is `decided`.
 * The others are about the due work that follows if no request changes the subscription. Each decision assumes that the
 * decisions before it made no invoice. A subscription that waits for its first payment counts as active.
 */
export function* billingsAhead(
  snapshot: Snapshot,
  decided: Outcome,
  ids: NewSubscriptionIds,
  now: Date,
): Iterable<NextBilling> {
  let state = snapshot;
  let outcome = decided;
  let at = now;
  for (let ahead = 0; ahead <= MAX_DECISIONS_AHEAD; ahead += 1) {
    if (canBill(state, outcome)) yield { outcome, at };
    const next = stateAfter(state, outcome);
    const dueAt = next.subscription.nextBillingAt;
    if (dueAt === null) return;
    // Work that fell due in the past, as after a back-dated start, is done now.
    at = dueAt > now ? dueAt : now;
    outcome = decideDue(next, ids, at);
    state = next;
  }
}

/**
 * Returns true if the decision makes an invoice, or would make one if there were late usage (accepted after its period
 * was billed). A trial has no late usage, because it is not billed.
 */
function canBill({ period }: Snapshot, { billing }: Outcome): boolean {
  if (billing === null) return false;
  return billing.lines.length > 0 || (billing.lateUsage !== undefined && period?.isTrial !== true);
}

function stateAfter({ items, period, pending }: Snapshot, outcome: Outcome): Snapshot {
  const ended = new Map(outcome.itemsEnded.map((item) => [item.id, item]));
  const kept = items
    .filter(({ id }) => !outcome.itemsRemoved.includes(id))
    .map((item): SubscriptionItem => {
      const isReopened = outcome.itemsReopened.includes(item.id);
      return isReopened ? { ...item, endAt: null } : { ...item, ...ended.get(item.id) };
    });
  const { subscription } = outcome;
  return {
    subscription: isAwaitingPayment(subscription) ? activated(subscription) : subscription,
    items: [...kept, ...outcome.itemsAdded],
    period: outcome.periodOpened ?? outcome.periodChanged ?? period,
    pending: outcome.scheduled ?? (outcome.settled === null ? pending : null),
  };
}
