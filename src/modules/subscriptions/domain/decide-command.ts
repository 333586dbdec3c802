import { invariant } from '../../../core/invariant';
import { mayBecome } from '../../../core/states';
import { localDateCount } from '../../../core/time';
import { creditsOf } from './decide';
import {
  endedItem,
  hasOffer,
  isBilledAfter,
  isSameInterval,
  itemsOf,
  swapItems,
  withOffer,
} from './items';
import { nextDueAt, withPeriod } from './due';
import { earnedItems, outcomeOf, type NewSubscriptionIds, type Outcome } from './outcome';
import { advanceCharges, arrearsCharges, nextPeriod, restOfPeriodCharge } from './periods';
import {
  spanOf,
  SUBSCRIPTION_TRANSITIONS,
  unitOf,
  type ItemEnd,
  type Offer,
  type ScheduledTerms,
  type Snapshot,
  type Subscription,
  type SubscriptionItem,
  type SubscriptionStatus,
} from './subscription';

export type CommandRefusal =
  | { readonly kind: 'transition'; readonly to: SubscriptionStatus }
  | { readonly kind: 'not_running' }
  | { readonly kind: 'pending' };

export function changeRefusal({ subscription, pending }: Snapshot): CommandRefusal | null {
  if (!isRunning(subscription)) return { kind: 'not_running' };
  return pending === null ? null : { kind: 'pending' };
}

/**
 * Returns the reason to refuse a pause, or null. A pause is refused while a change is scheduled, because only a renewal
 * applies the change, and a paused subscription does not renew.
 */
export function pauseRefusal({ subscription, pending }: Snapshot): CommandRefusal | null {
  const refusal = transitionRefusal(subscription, 'paused');
  return refusal ?? (pending?.terms.kind === 'change' ? { kind: 'pending' } : null);
}

export function transitionRefusal(
  { status }: Subscription,
  to: SubscriptionStatus,
): CommandRefusal | null {
  return mayBecome(SUBSCRIPTION_TRANSITIONS, status, to) ? null : { kind: 'transition', to };
}

function isRunning({ status }: Subscription): boolean {
  return status === 'trialing' || status === 'active' || status === 'past_due';
}

/**
 * Works out a change that takes effect at once.
 * - In a trial, nothing is billed.
 * - With proration, the unused part of prepaid charges is credited, and the rest of the period is charged at the new
 *   price. Both are counted in the proration unit of the new version (`day` or `second`); if a former price goes on with
 *   another quantity, in that of its own version. A change of the interval ends the period and starts a new one.
 * - Without proration, new prices start with the next period. A change of the interval is scheduled for the end of the
 *   period.
 * @param planPriceIds ids of the prices of all versions of the new plan
 */
export function decideChangeNow(
  snapshot: Snapshot,
  offer: Offer,
  planPriceIds: ReadonlySet<string>,
  prorates: boolean,
  now: Date,
  ids: NewSubscriptionIds,
): Outcome {
  const { subscription: before, period } = snapshot;
  invariant(period !== null, 'A running subscription has a period.');
  if (hasOffer(before, offer)) return outcomeOf(before, {});
  const changed = withOffer(before, offer);
  if (period.isTrial) {
    const { changes } = swapItems(snapshot.items, offer, before, now, ids, planPriceIds);
    return outcomeOf(changed, { ...changes, events: ['updated'] });
  }
  if (!isSameInterval(before, offer)) {
    return prorates
      ? decideIntervalChange(snapshot, offer, now, ids)
      : decideChangeAtEnd(snapshot, offer, now, ids);
  }
  const at = prorates ? now : period.endAt;
  const { changes } = swapItems(snapshot.items, offer, before, at, ids, planPriceIds);
  const endedIds = new Set(changes.itemsEnded.map(({ id }) => id));
  const replaced = snapshot.items.filter(({ id }) => endedIds.has(id));
  // A former price that goes on with another quantity is counted by its own version.
  const countedAs = ({ addonId }: SubscriptionItem): Pick<SubscriptionItem, 'proration'> =>
    changes.itemsAdded.find((one) => one.addonId === addonId && one.startAt <= at) ?? offer;
  const lines = prorates
    ? [
        ...snapshot.items
          .filter((item) => replaced.includes(item) || isReplacedBy(item, replaced))
          .flatMap((item) => creditsOf([item], now, 'border', unitOf(countedAs(item)))),
        ...changes.itemsAdded
          .filter(({ price, startAt }) => price.timing === 'in_advance' && startAt < period.endAt)
          .map((item) => restOfPeriodCharge(changed, item, period)),
      ]
    : [];
  return outcomeOf(changed, {
    ...changes,
    itemsEnded: replaced.map((item) => {
      const endedBy = prorates ? changeEndOf(countedAs(item)) : null;
      return { ...endedItem(item.id, at), endedBy };
    }),
    billing:
      lines.length === 0
        ? null
        : {
            reason: 'change',
            period: { startAt: now, endAt: period.endAt },
            billingPeriod: spanOf(period),
            renewsAt: null,
            lines,
          },
    events: ['updated'],
  });
}

/**
 * Schedules a change for the end of the period. A no-op if the subscription already has the plan version, quantity and
 * add-ons of the offer.
 */
export function decideChangeAtEnd(
  snapshot: Snapshot,
  offer: Offer,
  now: Date,
  ids: NewSubscriptionIds,
): Outcome {
  const { subscription: before, period } = snapshot;
  invariant(period !== null, 'A running subscription has a period.');
  if (hasOffer(before, offer)) return outcomeOf(before, {});
  return decideSchedule(snapshot, { kind: 'change', offer }, period.endAt, now, ids);
}

/**
 * Returns true if one of `others` replaced `item` in an earlier change of the plan or of the same add-on. That change
 * credited the prepaid charge of `item`. If the invoice with the credit is void, the credit is still due.
 */
function isReplacedBy(item: SubscriptionItem, others: readonly SubscriptionItem[]): boolean {
  return others.some(
    ({ addonId, startAt }) =>
      addonId === item.addonId && item.endAt !== null && item.endAt <= startAt,
  );
}

function decideIntervalChange(
  snapshot: Snapshot,
  offer: Offer,
  now: Date,
  ids: NewSubscriptionIds,
): Outcome {
  const { subscription: before, period, items } = snapshot;
  invariant(period !== null, 'A running subscription has a period.');
  const arrears = arrearsCharges(before, items, period, {
    at: now,
    end: 'border',
    unit: unitOf(offer),
  });
  const held = items.filter(isBilledAfter(now));
  // A change of the interval bills all items again. Unchanged items are therefore credited as well.
  const added = itemsOf(before.id, offer, now, ids);
  const closed = { ...period, endAt: now, isClosed: true };
  const anchored = { ...withOffer(before, offer), anchorAt: now };
  const opened = nextPeriod(anchored, null, ids.period());
  const subscription = withPeriod(anchored, opened, null);
  return outcomeOf(subscription, {
    itemsAdded: added,
    itemsEnded: held
      .filter(({ startAt }) => startAt <= now)
      .map(({ id, price }) => {
        // For a price in arrears, this change bills the time up to `now`. With `endedBy`, the next period would bill
        // the end again.
        const isCreditedAtEnd = price.timing === 'in_advance';
        return { ...endedItem(id, now), endedBy: isCreditedAtEnd ? changeEndOf(offer) : null };
      }),
    itemsRemoved: held.filter(({ startAt }) => startAt > now).map(({ id }) => id),
    periodChanged: closed,
    periodOpened: opened,
    billing: {
      reason: 'change',
      period: spanOf(opened),
      renewsAt: null,
      lines: [
        ...arrears,
        ...creditsOf(items, now, 'border', unitOf(offer)),
        ...advanceCharges(subscription, added, opened),
      ],
      lateUsage: 'billed',
    },
    earned: earnedItems(closed, items, true),
    events: ['updated'],
  });
}

export function decideSchedule(
  snapshot: Snapshot,
  terms: ScheduledTerms,
  effectiveAt: Date,
  now: Date,
  ids: NewSubscriptionIds,
): Outcome {
  const { subscription: before, period } = snapshot;
  const scheduled = {
    id: ids.change(),
    subscriptionId: before.id,
    terms,
    effectiveAt,
    status: 'pending',
    createdAt: now,
  } as const;
  const isCancel = terms.kind === 'cancel';
  return outcomeOf(
    {
      ...before,
      cancelAt: isCancel ? effectiveAt : before.cancelAt,
      canceledAt: isCancel ? now : before.canceledAt,
      nextBillingAt: nextDueAt(before, period, scheduled),
    },
    { scheduled, events: ['updated'] },
  );
}

export function decideUndo(snapshot: Snapshot): Outcome {
  const { subscription: before, pending, period } = snapshot;
  invariant(pending !== null, 'A change is scheduled.');
  const isCancel = pending.terms.kind === 'cancel';
  return outcomeOf(
    {
      ...before,
      cancelAt: isCancel ? null : before.cancelAt,
      canceledAt: isCancel ? null : before.canceledAt,
      nextBillingAt: nextDueAt(before, period, null),
    },
    { settled: { id: pending.id, status: 'undone' }, events: ['updated'] },
  );
}

/**
 * Works out a pause. Charges in advance are not credited. Items with prices in arrears end now. No further period
 * starts. With proration by day, the date of the pause is billed.
 */
export function decidePause({ subscription: before, items }: Snapshot, now: Date): Outcome {
  return outcomeOf(
    { ...before, status: 'paused', pausedAt: now },
    {
      itemsEnded: items
        .filter(({ price, startAt }) => price.timing === 'in_arrears' && startAt <= now)
        .filter(isBilledAfter(now))
        .map(({ id, endAt }) => ({
          id,
          endAt: now,
          isPaused: true,
          plannedEndAt: endAt,
          endedBy: 'pause',
        })),
      events: ['paused'],
    },
  );
}

/**
 * Works out the end of a pause. If the current period has not ended, the period continues. Otherwise a new period
 * begins now. With proration by day, the items that start again are charged for the date of the resume.
 */
export function decideResume(snapshot: Snapshot, now: Date, ids: NewSubscriptionIds): Outcome {
  const { subscription: before, period, items, pending } = snapshot;
  invariant(period !== null, 'A paused subscription has a period.');
  const paused = items.filter(({ isPaused }) => isPaused);
  const reopened = paused
    .filter(({ plannedEndAt }) => plannedEndAt === null || plannedEndAt > now)
    .map((item) => ({
      ...item,
      id: ids.item(),
      startAt: now,
      endAt: item.plannedEndAt,
      isPaused: false,
      plannedEndAt: null,
      endedBy: null,
    }));
  // Ends the paused items for good, because the reopened items replace them. If pause and resume are on one date, only
  // the reopened items bill that date.
  const settled = paused.map(({ id, endAt, endedBy }) => {
    const pausedAt = endAt ?? now;
    const isSameDate = localDateCount({ startAt: pausedAt, endAt: now }, before.timeZone) === 0n;
    return { ...endedItem(id, pausedAt), endedBy: isSameDate ? null : endedBy };
  });
  const active = { ...before, status: 'active', pausedAt: null } as const;
  if (!period.isClosed) {
    return outcomeOf(withPeriod(active, period, pending), {
      itemsAdded: reopened,
      itemsEnded: settled,
      events: ['resumed'],
    });
  }
  const anchored = { ...active, anchorAt: now };
  const opened = nextPeriod(anchored, null, ids.period());
  const subscription = withPeriod(anchored, opened, pending);
  return outcomeOf(subscription, {
    itemsAdded: reopened,
    itemsEnded: settled,
    periodOpened: opened,
    billing: {
      reason: 'renewal',
      period: spanOf(opened),
      renewsAt: null,
      lines: advanceCharges(subscription, items, opened),
      lateUsage: 'billed',
    },
    events: ['resumed'],
  });
}

function changeEndOf(counted: Pick<SubscriptionItem, 'proration'>): ItemEnd {
  return unitOf(counted) === 'day' ? 'day_change' : 'second_change';
}
