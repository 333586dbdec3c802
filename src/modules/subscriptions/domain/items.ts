import { compare, formatExact, parseDecimal } from '../../../core/decimal';
import type { EndedItem, NewSubscriptionIds } from './outcome';
import type { Offer, SoldPrice, Subscription, SubscriptionItem } from './subscription';

/** Returns the items of an offer. A flat or metered price has the quantity 1. */
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

function hasNoAgreedQuantity({ rating, usage }: SoldPrice): boolean {
  return rating.model === 'flat' || usage !== undefined;
}

export function isMetered({ price }: Pick<SubscriptionItem, 'price'>): boolean {
  return price.usage !== undefined;
}

/** Returns a filter for items that are billed for time after `at`. */
export function isBilledAfter(at: Date): (item: Pick<SubscriptionItem, 'endAt'>) => boolean {
  return ({ endAt }) => endAt === null || endAt > at;
}

/** Returns an end of an item that is final: the item is not reopened when its subscription resumes. */
export function endedItem(id: string, endAt: Date): EndedItem {
  return { id, endAt, isPaused: false, plannedEndAt: null, endedBy: null };
}

export interface SwappedItems {
  /** All items after the change, including ended and added ones. */
  readonly items: readonly SubscriptionItem[];
  readonly added: readonly SubscriptionItem[];
  readonly ended: readonly EndedItem[];
  readonly removed: readonly string[];
}

/**
 * Replaces items by the items of an offer, from `at` on. An item continues unchanged if the offer contains its
 * price and quantity, even if the offer is another version of the plan. All other items end at `at`, and items that
 * would start later are removed.
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
  const isSamePlan = before.planId === offer.planId && isSameInterval(before, offer);
  for (const offered of itemsOf(before.id, offer, at, ids)) {
    const index = left.findIndex(
      (item) => item.endAt === null && isSameItem(item, offered, isSamePlan),
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
 * Compares items by add-on, quantity and price.
 * @param isSamePlan true for versions of one plan with one interval: prices with equal terms then count as the same
 *   price
 */
function isSameItem(item: SubscriptionItem, other: SubscriptionItem, isSamePlan: boolean): boolean {
  return (
    item.addonId === other.addonId &&
    isSameQuantity(item.quantity, other.quantity) &&
    (item.price.priceId === other.price.priceId ||
      (isSamePlan && item.proration === other.proration && isSamePrice(item.price, other.price)))
  );
}

/** Compares names and terms. Ignores ids and the notation of decimals. */
function isSamePrice(one: SoldPrice, other: SoldPrice): boolean {
  return one.name === other.name && termsOf(one) === termsOf(other);
}

function termsOf(price: SoldPrice): string {
  return JSON.stringify(normalized({ ...price, priceId: null }));
}

const DECIMAL = /^\d+(\.\d+)?$/;

/** Sorts the properties of objects and writes decimals in one notation, so that equal terms have equal JSON. */
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

/** Compares numbers: `2` equals `2.00`. */
function isSameQuantity(one: string, other: string): boolean {
  return compare(parseDecimal(one), parseDecimal(other)) === 0;
}

/**
 * Returns true if a subscription already has the plan version, quantity and add-ons of an offer. Does not compare
 * items.
 */
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
