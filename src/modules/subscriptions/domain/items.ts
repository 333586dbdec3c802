import { compare, formatExact, parseDecimal } from '../../../core/decimal';
import type { EndedItem, NewSubscriptionIds, Outcome } from './outcome';
import type { Offer, SoldPrice, Subscription, SubscriptionItem } from './subscription';

/** Returns the items of an offer (plan and add-ons, resolved to prices). A flat or metered price has the quantity 1. */
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

/** Returns a filter for items that end after `at` or have no planned end. */
export function isBilledAfter(at: Date): (item: Pick<SubscriptionItem, 'endAt'>) => boolean {
  return ({ endAt }) => endAt === null || endAt > at;
}

/** Returns the end of an item that a later resume of the subscription does not undo. */
export function endedItem(id: string, endAt: Date): EndedItem {
  return { id, endAt, isPaused: false, plannedEndAt: null, endedBy: null };
}

type SubscribedTerms = Pick<
  Subscription,
  'id' | 'planId' | 'planVersionId' | 'interval' | 'intervalCount' | 'quantity' | 'addons'
>;

interface SwappedItems {
  /** Includes ended and added items. */
  readonly items: readonly SubscriptionItem[];
  readonly changes: Pick<Outcome, 'itemsAdded' | 'itemsEnded' | 'itemsReopened' | 'itemsRemoved'>;
}

/**
 * Replaces the items of a subscription by the items of an offer (plan version and add-ons), from `at` on.
 * - The items of the plan do not change if the plan version and the quantity stay the same. The items of an add-on do
 *   not change if its quantity stays the same. Their planned starts and ends stay planned.
 * - Another item continues if the offer has the same price with the same quantity, even in another version of the plan.
 * - All remaining items end at `at`. Items that would start later are deleted.
 * - If only the quantity changes, prices that an earlier change planned for the end of the period still start then.
 *   Until then, the present prices apply to the new quantity.
 * @param planPriceIds ids of the prices of all versions of the offer's plan. Null at the end of a period, when all
 *   items belong to the plan of the subscription. Within a period, items of its former plan may still run after a
 *   change without proration
 */
export function swapItems(
  items: readonly SubscriptionItem[],
  offer: Offer,
  before: SubscribedTerms,
  at: Date,
  ids: NewSubscriptionIds,
  planPriceIds: ReadonlySet<string> | null = null,
): SwappedItems {
  const isOfPlan = ({ price }: SubscriptionItem): boolean =>
    planPriceIds?.has(price.priceId) ?? before.planId === offer.planId;
  const touched = items.filter(({ addonId }) => !keepsTerms(before, offer, addonId));
  const left = touched.filter((item) => item.startAt <= at && isBilledAfter(at)(item));
  // Leaves out items that an earlier change ended at their own start, because they are never billed.
  const later = touched.filter((item) => item.startAt > at && isBilledAfter(item.startAt)(item));
  const added: SubscriptionItem[] = [];
  const reopened: SubscriptionItem[] = [];
  const removed: SubscriptionItem[] = [];
  const ended: SubscriptionItem[] = [];
  const isSame = (one: SubscriptionItem, other: SubscriptionItem): boolean =>
    one.addonId === other.addonId &&
    isSamePriceOf(one, other, isSameInterval(before, offer) && isOfPlan(one) && isOfPlan(other));
  const offered = itemsOf(before.id, offer, at, ids);
  for (const item of offered) {
    if (keepsTerms(before, offer, item.addonId)) continue;
    const running = take(
      left,
      (one) => isSame(one, item) && isSameQuantity(one.quantity, item.quantity),
    );
    if (running !== undefined) {
      // An earlier change without proration planned the end of this item.
      if (running.endAt !== null) reopened.push(running);
      continue;
    }
    // If an earlier change postponed a new price, the price keeps its later start. A postponed quantity of a present
    // price starts now.
    const isPostponed =
      keepsVersion(before, offer, item.addonId) && !left.some((one) => isSame(one, item));
    const planned = isPostponed ? take(later, (one) => isSame(one, item)) : undefined;
    if (planned === undefined) added.push(item);
    else if (!isSameQuantity(planned.quantity, item.quantity)) {
      removed.push(planned);
      added.push({ ...item, startAt: planned.startAt });
    }
  }
  for (const item of left) {
    // True if another price replaces this one later. Until then, the present price applies.
    const isReplacedLater =
      item.endAt !== null &&
      keepsVersion(before, offer, item.addonId) &&
      !offered.some((one) => isSame(one, item));
    const quantity = quantityFor(item, offer);
    if (isReplacedLater && isSameQuantity(item.quantity, quantity)) continue;
    ended.push(item);
    if (isReplacedLater) added.push({ ...item, id: ids.item(), quantity, startAt: at });
  }
  removed.push(...later);
  const kept = items
    .filter((item) => !removed.includes(item))
    .map((item) => {
      if (ended.includes(item)) return { ...item, endAt: at };
      return reopened.includes(item) ? { ...item, endAt: null } : item;
    });
  return {
    items: [...kept, ...added],
    changes: {
      itemsAdded: added,
      itemsEnded: ended.map(({ id }) => endedItem(id, at)),
      itemsReopened: reopened.map(({ id }) => id),
      itemsRemoved: removed.map(({ id }) => id),
    },
  };
}

function take(
  items: SubscriptionItem[],
  matches: (item: SubscriptionItem) => boolean,
): SubscriptionItem | undefined {
  const index = items.findIndex(matches);
  return index === -1 ? undefined : items.splice(index, 1)[0];
}

/**
 * Returns true if two items have the same price.
 * @param isSamePlan true if both items belong to versions of the same plan with the same interval. Prices with equal
 *   terms and equal proration then count as the same price, even if their ids differ
 */
function isSamePriceOf(
  item: SubscriptionItem,
  other: SubscriptionItem,
  isSamePlan: boolean,
): boolean {
  return (
    item.price.priceId === other.price.priceId ||
    (isSamePlan && item.proration === other.proration && isSamePrice(item.price, other.price))
  );
}

/** Returns true if two prices have the same name and terms. Ignores their ids and how decimals are written. */
function isSamePrice(one: SoldPrice, other: SoldPrice): boolean {
  return one.name === other.name && termsOf(one) === termsOf(other);
}

function termsOf(price: SoldPrice): string {
  return JSON.stringify(normalized({ ...price, priceId: null, name: null }));
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

function isSameQuantity(one: string, other: string): boolean {
  return compare(parseDecimal(one), parseDecimal(other)) === 0;
}

/**
 * Returns the quantity of an add-on; null if the terms do not have the add-on. If `addonId` is null, returns the
 * quantity of the plan.
 */
function quantityOf(
  { quantity, addons }: Pick<Offer, 'quantity' | 'addons'>,
  addonId: string | null,
): string | null {
  if (addonId === null) return quantity;
  return addons.find((addon) => addon.addonId === addonId)?.quantity ?? null;
}

/**
 * Returns the quantity that an item gets from an offer (plan version and add-ons). The quantity is unchanged if the
 * price is flat or metered, or if the offer does not have the add-on of the item.
 */
function quantityFor({ price, addonId, quantity }: SubscriptionItem, offer: Offer): string {
  return hasNoAgreedQuantity(price) ? quantity : (quantityOf(offer, addonId) ?? quantity);
}

/**
 * Returns true if `before` and `offer` both have the add-on. If `addonId` is null, returns true if both have the same
 * plan version.
 */
function keepsVersion(before: SubscribedTerms, offer: Offer, addonId: string | null): boolean {
  if (addonId === null) return before.planVersionId === offer.planVersionId;
  return quantityOf(before, addonId) !== null && quantityOf(offer, addonId) !== null;
}

/**
 * Returns true if the quantity of an add-on stays the same, or if neither the subscription nor the offer has the
 * add-on. If `addonId` is null, returns true if the version and the quantity of the plan stay the same.
 */
function keepsTerms(before: SubscribedTerms, offer: Offer, addonId: string | null): boolean {
  const held = quantityOf(before, addonId);
  const offered = quantityOf(offer, addonId);
  if (held === null || offered === null) return held === offered;
  return keepsVersion(before, offer, addonId) && isSameQuantity(held, offered);
}

export function hasOffer(before: SubscribedTerms, offer: Offer): boolean {
  const addons = [...before.addons, ...offer.addons].map(({ addonId }) => addonId);
  return [null, ...addons].every((addonId) => keepsTerms(before, offer, addonId));
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
