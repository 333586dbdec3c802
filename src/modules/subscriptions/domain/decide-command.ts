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
  type SwappedItems,
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

/** Returns the reason to refuse a change, or null. */
export function changeRefusal({ subscription, pending }: Snapshot): CommandRefusal | null {
  if (!isRunning(subscription)) return { kind: 'not_running' };
  return pending === null ? null : { kind: 'pending' };
}

/**
 * Returns the reason to refuse a pause, or null. A scheduled change is a reason: it takes effect with a renewal, and a paused
 * subscription is not renewed.
 */
export function pauseRefusal({ subscription, pending }: Snapshot): CommandRefusal | null {
  // A trial cannot be paused, because it bills nothing and its end was announced.
  if (subscription.status !== 'active') return { kind: 'transition', to: 'paused' };
  return pending?.terms.kind === 'change' ? { kind: 'pending' } : null;
}

/** Returns the reason to refuse a change of the status, or null. */
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
 * Decides a change that takes effect at once. Credits the unused part of what was paid in advance, and charges the rest of the
 * period at the new price. The proration of the new version counts the parts on both sides of the change. Without proration, the new price starts with the next period. A change to another interval ends the
 * period and starts a new one now; without proration, the change waits for the end of the period. In a trial nothing is billed.
 */
export function decideChangeNow(
  snapshot: Snapshot,
  offer: Offer,
  prorates: boolean,
  now: Date,
  ids: NewSubscriptionIds,
): Outcome {
  const { subscription: before, period } = snapshot;
  invariant(period !== null, 'what runs has a period');
  const changed = withOffer(before, offer);
  if (period.isTrial) {
    const swapped = swapItems(snapshot.items, offer, before, now, ids);
    if (changesNothing(before, offer, swapped)) return outcomeOf(before, {});
    return outcomeOf(changed, { ...changesOf(swapped), events: ['updated'] });
  }
  if (!isSameInterval(before, offer)) {
    return prorates
      ? decideIntervalChange(snapshot, offer, now, ids)
      : decideChangeAtEnd(snapshot, offer, now, ids);
  }
  const at = prorates ? now : period.endAt;
  const swapped = swapItems(snapshot.items, offer, before, at, ids);
  if (changesNothing(before, offer, swapped)) return outcomeOf(before, {});
  const endedIds = new Set(swapped.ended.map(({ id }) => id));
  const replaced = snapshot.items.filter(({ id }) => endedIds.has(id));
  const lines = prorates
    ? [
        ...creditsOf(
          snapshot.items.filter((item) => replaced.includes(item) || isReplacedBy(item, replaced)),
          now,
          'border',
          unitOf(offer),
        ),
        ...swapped.added
          .filter(({ price }) => price.timing === 'in_advance')
          .map((item) => restOfPeriodCharge(changed, item, period)),
      ]
    : [];
  return outcomeOf(changed, {
    ...changesOf(swapped, prorates ? changeEndOf(offer) : null),
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

/** Decides a change at the end of the period. A no-op if the subscription already has these terms. */
export function decideChangeAtEnd(
  snapshot: Snapshot,
  offer: Offer,
  now: Date,
  ids: NewSubscriptionIds,
): Outcome {
  const { subscription: before, period, items } = snapshot;
  invariant(period !== null, 'what runs has a period');
  const swapped = swapItems(items, offer, before, period.endAt, ids);
  if (changesNothing(before, offer, swapped)) return outcomeOf(before, {});
  return decideSchedule(snapshot, { kind: 'change', offer }, period.endAt, now, ids);
}

function changesNothing(
  before: Subscription,
  offer: Offer,
  { added, ended, removed }: SwappedItems,
): boolean {
  return hasOffer(before, offer) && [...added, ...ended, ...removed].length === 0;
}

/**
 * Returns true if an item ended and one of the others took its place, in the plan or in the same add-on. If the invoice of that
 * change is void, the prepaid line of the item still has to be credited.
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
  invariant(period !== null, 'what runs has a period');
  const arrears = arrearsCharges(before, items, period, {
    at: now,
    end: 'border',
    unit: unitOf(offer),
  });
  const held = items.filter(isBilledAfter(now));
  // Another interval bills all items again: unchanged ones are credited and billed as well.
  const added = itemsOf(before.id, offer, now, ids);
  const closed = { ...period, endAt: now, isClosed: true };
  const anchored = { ...withOffer(before, offer), anchorAt: now };
  const opened = nextPeriod(anchored, null, ids.period());
  const subscription = withPeriod(anchored, opened, null);
  return outcomeOf(subscription, {
    itemsAdded: added,
    itemsEnded: held.filter(({ startAt }) => startAt <= now).map(({ id }) => endedItem(id, now)),
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
    },
    earned: earnedItems(closed, items, true),
    events: ['updated'],
  });
}

/** Schedules a change or a cancellation. */
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

/** Decides to undo the scheduled change. */
export function decideUndo(snapshot: Snapshot): Outcome {
  const { subscription: before, pending, period } = snapshot;
  invariant(pending !== null, 'something waits');
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
 * Decides a pause: what was paid in advance stays paid, prices in arrears stop now, and no further period starts. By `day`, the
 * date on which it begins is billed.
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
 * Decides the end of a pause: the paid period continues, or a new period begins now if it has ended. By `day`, the date of the
 * resume is billed to the reopened items, also if the pause began on it.
 */
export function decideResume(snapshot: Snapshot, now: Date, ids: NewSubscriptionIds): Outcome {
  const { subscription: before, period, items, pending } = snapshot;
  invariant(period !== null, 'what is paused ran before');
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
  // The reopened items replace the paused ones. `endedItem` clears `isPaused`, so that the next resume does not reopen them
  // again.
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
    },
    events: ['resumed'],
  });
}

function changesOf({ added, ended, removed }: SwappedItems, endedBy: ItemEnd | null = null) {
  return {
    itemsAdded: added,
    itemsEnded: ended.map((item) => ({ ...item, endedBy })),
    itemsRemoved: removed,
  };
}

function changeEndOf(offer: Offer): ItemEnd {
  return unitOf(offer) === 'day' ? 'day_change' : 'second_change';
}
