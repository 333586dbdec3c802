import { decideDue } from './decide';
import { isAwaitingPayment } from './first-payment';
import type { NewSubscriptionIds, Outcome } from './outcome';
import type { Snapshot, SubscriptionItem } from './subscription';

/**
 * Maximum number of decisions after a command that bill nothing before the next invoice, such as the start, the announcement and
 * the end of a trial.
 */
const MAX_WITHOUT_BILLING = 4;

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
  for (let ahead = 0; ahead < MAX_WITHOUT_BILLING && !canBill(state, outcome); ahead += 1) {
    const next = stateAfter(state, outcome);
    const dueAt = next.subscription.nextBillingAt;
    if (dueAt === null || isAwaitingPayment(next.subscription)) break;
    // What fell due before now, after a start in the past, is done now.
    at = dueAt > now ? dueAt : now;
    outcome = decideDue(next, ids, at);
    state = next;
  }
  return canBill(state, outcome) ? { outcome, at } : { outcome: decided, at: now };
}

/** Returns false if the outcome makes no invoice. No usage is late at the end of a trial, because nothing was billed before. */
function canBill({ period }: Snapshot, { billing }: Outcome): boolean {
  if (billing === null) return false;
  return billing.lines.length > 0 || (billing.lateUsage !== undefined && period?.isTrial !== true);
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
