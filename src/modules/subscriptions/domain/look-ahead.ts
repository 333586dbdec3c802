import { decideDue } from './decide';
import { isAwaitingPayment } from './first-payment';
import type { NewSubscriptionIds, Outcome } from './outcome';
import type { Snapshot, SubscriptionItem } from './subscription';

/** Maximum number of decisions before the next invoice that bill nothing, such as the announcement of a trial's end. */
const MAX_WITHOUT_BILLING = 3;

/** Decision that makes the next invoice, and its time. */
export interface NextBilling {
  readonly outcome: Outcome;
  readonly at: Date;
}

/**
 * Finds the next invoice after a decision: the one that the decision makes, or else the first that falls due if nothing
 * changes. If there is none, returns the decision itself.
 */
export function nextBilling(
  snapshot: Snapshot,
  decided: Outcome,
  ids: NewSubscriptionIds,
  now: Date,
): NextBilling {
  let state = snapshot;
  let outcome = decided;
  let at = now;
  for (let ahead = 0; ahead < MAX_WITHOUT_BILLING && outcome.billing === null; ahead += 1) {
    state = stateAfter(state, outcome);
    const dueAt = state.subscription.nextBillingAt;
    if (dueAt === null || isAwaitingPayment(state.subscription)) break;
    at = dueAt;
    outcome = decideDue(state, ids, at);
  }
  return outcome.billing === null ? { outcome: decided, at: now } : { outcome, at };
}

function stateAfter({ items, period, pending }: Snapshot, outcome: Outcome): Snapshot {
  const ended = new Map(outcome.itemsEnded.map((item) => [item.id, item]));
  const kept = items
    .filter(({ id }) => !outcome.itemsRemoved.includes(id))
    .map((item): SubscriptionItem => ({ ...item, ...ended.get(item.id) }));
  return {
    subscription: outcome.subscription,
    items: [...kept, ...outcome.itemsAdded],
    period: outcome.periodOpened ?? outcome.periodChanged ?? period,
    pending: outcome.scheduled ?? (outcome.settled === null ? pending : null),
  };
}
