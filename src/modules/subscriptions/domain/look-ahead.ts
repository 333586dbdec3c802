import { decideDue } from './decide';
import { isAwaitingPayment } from './first-payment';
import type { NewSubscriptionIds, Outcome } from './outcome';
import type { Snapshot, SubscriptionItem } from './subscription';

/**
 * Maximum number of decisions to search for an invoice. The start of a trial, the announcement of its end, and its end
 * may bill nothing.
 */
const MAX_DECISIONS_AHEAD = 4;

/** The decision that makes the next invoice, and the time of that invoice. */
export interface NextBilling {
  readonly outcome: Outcome;
  readonly at: Date;
}

/**
 * Returns the outcome that makes the next invoice: `decided` if it makes an invoice, otherwise the outcome of the first
 * later due work that makes an invoice, if nothing else changes until then. If no later work makes an invoice, returns
 * `decided`.
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
  for (let ahead = 0; ahead < MAX_DECISIONS_AHEAD && !canBill(state, outcome); ahead += 1) {
    const next = stateAfter(state, outcome);
    const dueAt = next.subscription.nextBillingAt;
    if (dueAt === null || isAwaitingPayment(next.subscription)) break;
    // Work that fell due in the past, as after a back-dated start, is done now.
    at = dueAt > now ? dueAt : now;
    outcome = decideDue(next, ids, at);
    state = next;
  }
  return canBill(state, outcome) ? { outcome, at } : { outcome: decided, at: now };
}

/**
 * Returns false if the outcome makes no invoice. The end of a trial has no late usage, because no period was billed
 * before.
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
  return {
    subscription: outcome.subscription,
    items: [...kept, ...outcome.itemsAdded],
    period: outcome.periodOpened ?? outcome.periodChanged ?? period,
    pending: outcome.scheduled ?? (outcome.settled === null ? pending : null),
  };
}
