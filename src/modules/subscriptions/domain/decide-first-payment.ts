import { invariant } from '../../../core/invariant';
import { endedItem, isBilledAfter, isMetered } from './items';
import { isAwaitingPayment } from './first-payment';
import { earnedItems, outcomeOf, type Outcome } from './outcome';
import type { Snapshot } from './subscription';

/**
 * Works out what happens at the time limit of the first payment. Without a payment in flight, the subscription expires.
 * With a payment in flight, the subscription waits for the outcome of the payment, and has no due work until then.
 */
export function decideExpiry(snapshot: Snapshot, isBeingPaid: boolean): Outcome {
  const { subscription } = snapshot;
  if (isBeingPaid) {
    return outcomeOf({ ...subscription, nextBillingAt: null }, { events: ['updated'] });
  }
  const at = subscription.incompleteExpiresAt;
  invariant(at !== null, 'Only a subscription that waits for its first payment can expire.');
  return decideEndUnpaid(snapshot, at, 'incomplete_expired');
}

/**
 * Works out the end of a subscription that waits for its first payment. Bills nothing, because the subscription was
 * never active. The caller must void the unpaid invoices of the subscription, or credit what is still owed on them.
 */
export function decideEndUnpaid(
  { subscription: before, items, period }: Snapshot,
  at: Date,
  status: 'incomplete_expired' | 'canceled',
): Outcome {
  invariant(
    isAwaitingPayment(before) && period !== null,
    'The subscription waits for its first payment.',
  );
  const closed = { ...period, endAt: at < period.endAt ? at : period.endAt, isClosed: true };
  return outcomeOf(
    {
      ...before,
      status,
      incompleteExpiresAt: null,
      currentPeriodEndAt: closed.endAt,
      canceledAt: status === 'canceled' ? at : null,
      endedAt: at,
      nextBillingAt: null,
      renewalFailedAt: null,
      renewalFailureCode: null,
    },
    {
      itemsEnded: items
        .filter(isBilledAfter(at))
        // A metered item ends at its own start, so that its price applies to no usage.
        .map((item) => endedItem(item.id, isMetered(item) ? item.startAt : at)),
      periodChanged: closed,
      earned: earnedItems(closed, items, true),
      events: [status === 'canceled' ? 'canceled' : 'expired'],
    },
  );
}
