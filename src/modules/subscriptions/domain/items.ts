import { compare, parseDecimal } from '../../../core/decimal';
import type { EndedItem, NewSubscriptionIds } from './outcome';
import type { Offer, SoldPrice, Subscription, SubscriptionItem } from './subscription';

/** The items of an offer, from an instant on. A price that no agreed quantity counts for is sold once. */
export function itemsOf(
  subscriptionId: string,
  offer: Offer,
  startAt: Date,
  ids: NewSubscriptionIds,
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
  ids: NewSubscriptionIds,
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
