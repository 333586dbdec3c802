import { compare, formatExact, parseDecimal } from '../../../core/decimal';
import type { EndedItem, NewSubscriptionIds } from './outcome';
import type { Offer, SoldPrice, Subscription, SubscriptionItem } from './subscription';

/** Returns the items of an offer, starting at `startAt`. A flat or metered price has the quantity 1. */
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
    quantity: hasNoAgreedQuantity(item.price) ? '1' : item.quantity,
    proration: offer.proration,
    startAt,
    endAt: null,
    isPaused: false,
    plannedEndAt: null,
    endedBy: null,
  }));
}

/** Returns true if the price has no agreed quantity: it is flat, or a meter counts its quantity. */
function hasNoAgreedQuantity({ rating, usage }: SoldPrice): boolean {
  return rating.model === 'flat' || usage !== undefined;
}

/** Returns true if the item is priced by metered usage. */
export function isMetered({ price }: Pick<SubscriptionItem, 'price'>): boolean {
  return price.usage !== undefined;
}

/** Returns a function that is true for items billed for time after `at`. */
export function isBilledAfter(at: Date): (item: Pick<SubscriptionItem, 'endAt'>) => boolean {
  return ({ endAt }) => endAt === null || endAt > at;
}

/** Returns the change that ends an item for good: a resume does not reopen it. */
export function endedItem(id: string, endAt: Date): EndedItem {
  return { id, endAt, isPaused: false, plannedEndAt: null, endedBy: null };
}

export interface SwappedItems {
  /** Items after the change: present and planned ones, and those that ended with it. */
  readonly items: readonly SubscriptionItem[];
  readonly added: readonly SubscriptionItem[];
  readonly ended: readonly EndedItem[];
  readonly removed: readonly string[];
}

/**
 * Replaces items by those of an offer from `at` on. An item with the same price and quantity continues with the terms it was
 * sold with, also if the price belongs to another plan version. The others end at `at`. Items planned to start later are
 * dropped.
 * @param before the subscription before the change
 */
export function swapItems(
  items: readonly SubscriptionItem[],
  offer: Offer,
  before: Pick<Subscription, 'id' | 'planId' | 'interval' | 'intervalCount'>,
  at: Date,
  ids: NewSubscriptionIds,
): SwappedItems {
  const planned = items.filter((item) => item.startAt >= at && item.endAt === null);
  const dropped = planned.filter((item) => item.startAt > at);
  const current = items.filter((item) => item.startAt <= at && isBilledAfter(at)(item));
  const left = [...current];
  const added: SubscriptionItem[] = [];
  const isVersion = before.planId === offer.planId && isSameInterval(before, offer);
  for (const offered of itemsOf(before.id, offer, at, ids)) {
    const index = left.findIndex(
      (item) => item.endAt === null && isSameItem(item, offered, isVersion),
    );
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

/**
 * @param isVersion true if both belong to versions of one plan with the same interval: prices with equal terms then count as
 *   one price
 */
function isSameItem(item: SubscriptionItem, other: SubscriptionItem, isVersion: boolean): boolean {
  return (
    item.addonId === other.addonId &&
    isSameQuantity(item.quantity, other.quantity) &&
    (item.price.priceId === other.price.priceId ||
      (isVersion && item.proration === other.proration && isSamePrice(item.price, other.price)))
  );
}

/** Returns true if two prices differ in nothing but their ids and the notation of their decimals. */
function isSamePrice(one: SoldPrice, other: SoldPrice): boolean {
  return one.name === other.name && termsOf(one) === termsOf(other);
}

function termsOf(price: SoldPrice): string {
  return JSON.stringify(normalized({ ...price, priceId: null }));
}

const DECIMAL = /^\d+(\.\d+)?$/;

/** Returns a value with the properties of objects in order, and decimals in one notation. */
function normalized(value: unknown): unknown {
  if (typeof value === 'string')
    return DECIMAL.test(value) ? formatExact(parseDecimal(value)) : value;
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map(normalized);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, part]) => [key, normalized(part)]);
}

/** Compares numbers, not texts: `2` is `2.00`. */
function isSameQuantity(one: string, other: string): boolean {
  return compare(parseDecimal(one), parseDecimal(other)) === 0;
}

/** Returns true if a subscription already has the plan, quantity and add-ons of an offer. Does not compare items. */
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

/** Returns the subscription with the plan, interval, quantity and add-ons of an offer. */
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
