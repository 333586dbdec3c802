import { compare, parseDecimal } from '../../../core/decimal';
import { invariant } from '../../../core/invariant';
import { nextDueAt, withPeriod } from './due';
import { awaitingPayment } from './first-payment';
import {
  outcomeOf,
  type Billing,
  type EndedItem,
  type Line,
  type NewIds,
  type Outcome,
} from './outcome';
import { advanceCharges, arrearsCharges, nextPeriod, trialPeriod } from './periods';
import {
  spanOf,
  type Offer,
  type Snapshot,
  type SoldPrice,
  type Subscription,
  type SubscriptionItem,
  type SubscriptionPeriod,
} from './subscription';

const TRIAL_ENDING_MS = 3 * 86_400_000;

/** The items of an offer, from an instant on. A price that no agreed quantity counts for is sold once. */
export function itemsOf(
  subscriptionId: string,
  offer: Offer,
  startAt: Date,
  ids: NewIds,
): readonly SubscriptionItem[] {
  return offer.items.map((item) => ({
    ...item,
    id: ids.item(),
    subscriptionId,
    quantity: isSoldOnce(item.price) ? '1' : item.quantity,
    proration: offer.proration,
    startAt,
    endAt: null,
    isPaused: false,
    plannedEndAt: null,
  }));
}

/** A flat amount is one amount, and usage is counted. */
function isSoldOnce({ rating, usage }: SoldPrice): boolean {
  return rating.model === 'flat' || usage !== undefined;
}

/**
 * The start of a subscription: its trial, or its first period with what that bills in advance. Where it was sold so, it
 * waits for that to be paid.
 */
export function decideBegin(snapshot: Snapshot, ids: NewIds, now: Date): Outcome {
  const { subscription: before, items } = snapshot;
  invariant(snapshot.period === null, 'a subscription begins once');
  if (before.trialEndAt !== null) {
    const period = trialPeriod(before, before.trialEndAt, ids.period());
    const trialEndingAt = trialEndingOf(period);
    const trialing = { ...before, status: 'trialing', trialEndingAt } as const;
    return outcomeOf(withPeriod(trialing, period, snapshot.pending), {
      periodOpened: period,
      events: trialEndingAt === null ? ['updated', 'trial_ending'] : ['updated'],
    });
  }
  const period = nextPeriod(before, null, ids.period());
  const waits = before.paymentBehavior === 'default_incomplete';
  const begun = waits ? awaitingPayment(before, now) : ({ ...before, status: 'active' } as const);
  const subscription = withPeriod(begun, period, snapshot.pending);
  return outcomeOf(subscription, {
    periodOpened: period,
    billing: {
      reason: 'subscription_start',
      period: spanOf(period),
      renewsAt: period.startAt,
      lines: advanceCharges(subscription, items, period),
    },
    events: [waits ? 'updated' : 'activated'],
  });
}

/** Three days before the trial's end; null where it is that close from the start. */
function trialEndingOf({ startAt, endAt }: SubscriptionPeriod): Date | null {
  const at = new Date(endAt.getTime() - TRIAL_ENDING_MS);
  return at > startAt ? at : null;
}

/**
 * Decides what is due at `subscription.nextBillingAt`: its start, the end of a period or trial, a scheduled change, or the
 * announcement of the trial's end.
 */
export function decideDue(snapshot: Snapshot, ids: NewIds, now: Date): Outcome {
  const { subscription, period, pending } = snapshot;
  const at = subscription.nextBillingAt;
  invariant(at !== null, 'something is due');
  if (period === null) return decideBegin(snapshot, ids, now);
  const isBoundary = !period.isClosed && period.endAt.getTime() === at.getTime();
  if (pending?.terms.kind === 'cancel' && pending.effectiveAt <= at) {
    const { creditUnused } = pending.terms;
    return decideEnd(snapshot, at, isBoundary ? 'border' : 'termination', creditUnused);
  }
  if (subscription.trialEndingAt?.getTime() === at.getTime()) {
    const announced = { ...subscription, trialEndingAt: null };
    const nextBillingAt = nextDueAt(announced, period, pending);
    return outcomeOf({ ...announced, nextBillingAt }, { events: ['trial_ending'] });
  }
  invariant(isBoundary, 'a change waits for the end of a period');
  return decideRenewal(snapshot, period, ids);
}

/** The end of a period: what it bills in arrears, a change that waited for it, and the next period. */
function decideRenewal(snapshot: Snapshot, period: SubscriptionPeriod, ids: NewIds): Outcome {
  const { subscription: before, pending } = snapshot;
  const at = period.endAt;
  const arrears = arrearsCharges(before, snapshot.items, period, { at, end: 'border' });
  const closed = { ...period, isClosed: true };
  if (before.status === 'paused') {
    return outcomeOf(
      { ...before, nextBillingAt: nextDueAt(before, closed, pending) },
      {
        periodChanged: closed,
        billing: renewalBilling(spanOf(period), at, arrears),
        earned: { period: closed, end: 'border' },
      },
    );
  }
  const change = pending?.terms.kind === 'change' ? pending.terms.offer : null;
  const swapped = change === null ? null : swapItems(snapshot.items, change, before.id, at, ids);
  const items = swapped?.items ?? snapshot.items;
  const changed = change === null ? before : withOffer(before, change);
  // Periods count from a new anchor after a trial and with another interval.
  const isNewAnchor = period.isTrial || !isSameInterval(before, changed);
  const anchored = isNewAnchor ? { ...changed, anchorAt: at } : changed;
  const opened = nextPeriod(anchored, isNewAnchor ? null : period, ids.period());
  const settled = change === null ? null : pending;
  const subscription = withPeriod(
    { ...anchored, status: period.isTrial ? 'active' : anchored.status },
    opened,
    settled === null ? pending : null,
  );
  const advance = advanceCharges(subscription, items, opened);
  return outcomeOf(subscription, {
    itemsAdded: swapped?.added ?? [],
    itemsEnded: swapped?.ended ?? [],
    itemsRemoved: swapped?.removed ?? [],
    periodChanged: closed,
    periodOpened: opened,
    settled: settled === null ? null : { id: settled.id, status: 'applied' },
    billing: renewalBilling(advance.length > 0 ? spanOf(opened) : spanOf(period), at, [
      ...arrears,
      ...advance,
    ]),
    earned: { period: closed, end: 'border' },
    events: [
      period.isTrial ? 'activated' : 'renewed',
      ...(change === null ? [] : ['updated' as const]),
    ],
  });
}

/** The end of a subscription, between periods or within one. */
export function decideEnd(
  snapshot: Snapshot,
  at: Date,
  end: 'border' | 'termination',
  creditUnused: boolean,
): Outcome {
  const { subscription: before, items, period, pending } = snapshot;
  const closes = period !== null && !period.isClosed;
  const arrears = closes ? arrearsCharges(before, items, period, { at, end }) : [];
  const credits =
    closes && creditUnused && end === 'termination' && !period.isTrial
      ? creditsOf(items.filter(isProrated), at, 'termination')
      : [];
  const closed = closes ? { ...period, endAt: at, isClosed: true } : null;
  const lines = [...arrears, ...credits];
  const paidUntil = paidUntilOf(period, at);
  return outcomeOf(
    {
      ...before,
      status: 'canceled',
      currentPeriodEndAt: closed?.endAt ?? before.currentPeriodEndAt,
      canceledAt: before.canceledAt ?? at,
      cancelAt: null,
      pausedAt: null,
      trialEndingAt: null,
      endedAt: at,
      nextBillingAt: null,
    },
    {
      itemsEnded: items.filter(holdsBeyond(at)).map((item) => {
        const { id, startAt, price } = item;
        const isCredited = creditUnused && isProrated(item);
        const endAt = price.timing === 'in_advance' && !isCredited ? paidUntil : at;
        return endedItem(id, startAt > endAt ? startAt : endAt);
      }),
      periodChanged: closed,
      settled:
        pending === null
          ? null
          : { id: pending.id, status: pending.terms.kind === 'cancel' ? 'applied' : 'undone' },
      billing:
        period === null || period.isTrial
          ? null
          : {
              reason: 'end',
              period: closed === null ? null : spanOf(closed),
              billingPeriod: spanOf(closed ?? period),
              renewsAt: end === 'border' ? at : null,
              lines,
              lateUsage: 'closed',
            },
      earned: closed === null ? null : { period: closed, end: 'end' },
      events: ['canceled'],
    },
  );
}

/** `none` credits nothing, whatever a caller asks for. */
function isProrated({ proration }: SubscriptionItem): boolean {
  return proration !== 'none';
}

/** Returns the end of prepaid charges if nothing is credited: the end of a period, also of one that ends early. */
function paidUntilOf(period: SubscriptionPeriod | null, at: Date): Date {
  return period === null || period.isTrial || period.endAt < at ? at : period.endAt;
}

/** Ends the subscription of a deleted customer without billing it. Only billed periods sell usage. */
export function decideAbandon(snapshot: Snapshot): Outcome {
  const { subscription, items, period } = snapshot;
  const at = subscription.nextBillingAt;
  invariant(at !== null, 'something is due');
  const outcome = decideEnd(snapshot, at, 'border', false);
  if (period === null || period.isClosed) return { ...outcome, billing: null };
  const unbilled = items.filter(isMetered).flatMap(({ id, startAt, endAt }) => {
    const soldUntil = startAt > period.startAt ? startAt : period.startAt;
    return endAt === null || endAt > soldUntil ? [endedItem(id, soldUntil)] : [];
  });
  const unbilledIds = new Set(unbilled.map(({ id }) => id));
  const others = outcome.itemsEnded.filter(({ id }) => !unbilledIds.has(id));
  return { ...outcome, itemsEnded: [...others, ...unbilled], billing: null };
}

/** Returns true if the item is priced by metered usage. */
export function isMetered({ price }: Pick<SubscriptionItem, 'price'>): boolean {
  return price.usage !== undefined;
}

/** Returns true for items that are billed for time after an instant. */
export function holdsBeyond(at: Date): (item: Pick<SubscriptionItem, 'endAt'>) => boolean {
  return ({ endAt }) => endAt === null || endAt > at;
}

/** An item that is over for good. */
export function endedItem(id: string, endAt: Date): EndedItem {
  return { id, endAt, isPaused: false, plannedEndAt: null };
}

/**
 * A credit for what each item was billed in advance beyond an instant. Items that a change ended before are credited as
 * well where the invoice of the change is void: what was credited for them counts as never done.
 */
export function creditsOf(
  items: readonly SubscriptionItem[],
  unusedFrom: Date,
  end: 'border' | 'termination',
): readonly Line[] {
  return items
    .filter(({ price }) => price.timing === 'in_advance')
    .map(({ id: itemId }) => ({ kind: 'credit', itemId, unusedFrom, end }));
}

export interface SwappedItems {
  /** All that hold or will, after the change. */
  readonly items: readonly SubscriptionItem[];
  readonly added: readonly SubscriptionItem[];
  readonly ended: readonly EndedItem[];
  readonly removed: readonly string[];
}

/**
 * The items of an offer from `at` on. An item with the same price and quantity goes on with the terms it was sold with; the
 * others end there, and what was planned from there on is dropped.
 */
export function swapItems(
  items: readonly SubscriptionItem[],
  offer: Offer,
  subscriptionId: string,
  at: Date,
  ids: NewIds,
): SwappedItems {
  const planned = items.filter((item) => item.startAt >= at && item.endAt === null);
  const dropped = planned.filter((item) => item.startAt > at);
  const current = items.filter((item) => item.startAt <= at && holdsBeyond(at)(item));
  const left = [...current];
  const added: SubscriptionItem[] = [];
  for (const offered of itemsOf(subscriptionId, offer, at, ids)) {
    const index = left.findIndex((item) => item.endAt === null && isSameItem(item, offered));
    if (index === -1) added.push(offered);
    else left.splice(index, 1);
  }
  const ended = left.map(({ id }) => endedItem(id, at));
  const endedIds = new Set(ended.map(({ id }) => id));
  const removed = dropped.map(({ id }) => id);
  const kept = items
    .filter(({ id }) => !removed.includes(id))
    .map((item) => (endedIds.has(item.id) ? { ...item, endAt: at } : item));
  return { items: [...kept, ...added], added, ended, removed };
}

function isSameItem(
  item: SubscriptionItem,
  other: Pick<SubscriptionItem, 'addonId' | 'price' | 'quantity'>,
): boolean {
  return (
    item.addonId === other.addonId &&
    item.price.priceId === other.price.priceId &&
    isSameQuantity(item.quantity, other.quantity)
  );
}

/** Compares numbers, not texts: `2` is `2.00`. */
function isSameQuantity(one: string, other: string): boolean {
  return compare(parseDecimal(one), parseDecimal(other)) === 0;
}

/** Tells whether a subscription already has what an offer says, apart from its items. */
export function hasOffer(subscription: Subscription, offer: Offer): boolean {
  return (
    subscription.planVersionId === offer.planVersionId &&
    isSameQuantity(subscription.quantity, offer.quantity) &&
    subscription.addons.length === offer.addons.length &&
    subscription.addons.every(({ addonId, quantity }) =>
      offer.addons.some(
        (other) => other.addonId === addonId && isSameQuantity(other.quantity, quantity),
      ),
    )
  );
}

/** The subscription with what an offer says of it. */
export function withOffer(subscription: Subscription, offer: Offer): Subscription {
  const { planId, planVersionId, interval, intervalCount, proration, quantity, addons } = offer;
  return {
    ...subscription,
    planId,
    planVersionId,
    interval,
    intervalCount,
    proration,
    quantity,
    addons,
  };
}

export function isSameInterval(
  one: Pick<Subscription, 'interval' | 'intervalCount'>,
  other: Pick<Subscription, 'interval' | 'intervalCount'>,
): boolean {
  return one.interval === other.interval && one.intervalCount === other.intervalCount;
}

function renewalBilling(
  period: { readonly startAt: Date; readonly endAt: Date },
  renewsAt: Date,
  lines: readonly Line[],
): Billing {
  return { reason: 'renewal', period, renewsAt, lines, lateUsage: 'billed' };
}
