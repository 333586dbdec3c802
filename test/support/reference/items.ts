import { isDeepStrictEqual } from 'node:util';
import type { ModelPlan } from './catalog';
import type { BilledLine } from './line';
import { addonPrices, type SoldPrice, type Terms } from './offers';

/** Instant after all others: the end of items that continue. */
export const FOREVER = Number.MAX_SAFE_INTEGER;

export interface Item {
  readonly price: SoldPrice;
  readonly quantity: number;
  /** Proration of the plan with which the item was sold. It stays the same if the subscription changes to another plan. */
  readonly proration: ModelPlan['proration'];
  from: number;
  to: number;
  /**
   * True after a change of the interval has ended the item and its period. The amounts billed for it then count as
   * earned.
   */
  isOver: boolean;
  /** For an item that a pause stopped, the instant until which it continues after a resume; otherwise null. */
  resumesUntil: number | null;
  /**
   * True after a pause has ended the item, unless the subscription resumed on the same day. Proration by day then bills
   * this day.
   */
  billsLastDay: boolean;
  /**
   * Unit in which the last part of the item is counted. If a change ended the item, this is the unit of the new
   * version. Null: the unit of the item itself.
   */
  lastUnit: 'day' | 'second' | null;
  billed: BilledLine[];
}

export function itemsOf(terms: Terms, from: number): Item[] {
  const { prices, proration } = terms.version;
  const sold = [
    { prices, quantity: terms.quantity },
    ...terms.addons.map(({ addon, quantity }) => ({ prices: addonPrices(addon), quantity })),
  ].flatMap((one) => one.prices.map((price) => ({ price, quantity: one.quantity })));
  return sold.map(({ price, quantity }) => ({
    price,
    quantity: hasQuantity(price) ? quantity : 1,
    proration,
    from,
    to: FOREVER,
    isOver: false,
    resumesUntil: null,
    billsLastDay: false,
    lastUnit: null,
    billed: [],
  }));
}

function hasQuantity({ model, isMetered }: SoldPrice): boolean {
  return model !== 'flat' && !isMetered;
}

/**
 * Replaces the items from an instant on. Unchanged items continue. A plan or add-on that the change does not name keeps
 * its present and later items.
 */
export function swap(
  subscription: { items: Item[]; terms: Terms },
  terms: Terms,
  at: number,
): { readonly ended: readonly Item[]; readonly added: readonly Item[] } {
  const { items, terms: held } = subscription;
  const isSameInterval = held.version.interval === terms.version.interval;
  const added: Item[] = [];
  const ended: Item[] = [];
  const dropped = new Set<Item>();
  for (const place of placesOf(held, terms)) {
    const [before, after] = [partOf(held, place), partOf(terms, place)];
    if (isDeepStrictEqual(before, after)) continue;
    const isHeld = before !== null && after !== null && before.sold === after.sold;
    const mine = items.filter(({ price, to }) => placeOf(price) === place && to > at);
    const present = new Set(mine.filter(({ from }) => from <= at));
    const later = new Set(mine.filter(({ from }) => from > at));
    const wanted = itemsOf(terms, at).filter(({ price }) => placeOf(price) === place);
    const priced = (all: Iterable<Item>, item: Item): Item | undefined =>
      [...all].find((one) => isSamePrice(one, item, isSameInterval));
    for (const item of wanted) {
      const same = [...present].find((one) => isSame(one, item, isSameInterval));
      if (same !== undefined) {
        same.to = FOREVER;
        present.delete(same);
        continue;
      }
      const planned = isHeld && !priced(present, item) ? priced(later, item) : undefined;
      if (planned === undefined) added.push(item);
      else if (planned.quantity === item.quantity) later.delete(planned);
      else added.push({ ...item, from: planned.from });
    }
    for (const item of present) {
      const endsLater = isHeld && item.to !== FOREVER && !priced(wanted, item);
      const quantity = hasQuantity(item.price) ? (after?.quantity ?? 0) : 1;
      if (endsLater && item.quantity === quantity) continue;
      if (endsLater) added.push({ ...item, quantity, from: at, billed: [] });
      item.to = at;
      ended.push(item);
    }
    for (const item of later) dropped.add(item);
  }
  subscription.items = [...items.filter((item) => !dropped.has(item)), ...added];
  subscription.terms = terms;
  return { ended, added };
}

/** Returns true if terms are the same. */
export function isSameTerms(held: Terms, terms: Terms): boolean {
  return placesOf(held, terms).every((place) =>
    isDeepStrictEqual(partOf(held, place), partOf(terms, place)),
  );
}

/** Returns what the two terms sell: null for the plan, and the index of each add-on. */
function placesOf(one: Terms, other: Terms): readonly (number | null)[] {
  return [null, ...new Set([...one.addons, ...other.addons].map(({ addon }) => addon))];
}

/**
 * Returns the version and quantity of the plan if `place` is null, otherwise the quantity of an add-on; null if it is
 * not sold.
 */
function partOf({ version, quantity, addons }: Terms, place: number | null) {
  if (place === null) return { sold: version, quantity };
  const found = addons.find(({ addon }) => addon === place);
  return found === undefined ? null : { sold: null, quantity: found.quantity };
}

function isSame(one: Item, other: Item, isSameInterval: boolean): boolean {
  return isSamePrice(one, other, isSameInterval) && one.quantity === other.quantity;
}

/**
 * Returns true if two items sell the same price. A price in another version of the plan is the same if its terms,
 * which include the plan, and the proration of the items are equal. An item keeps its proration even after a change of
 * the plan.
 */
function isSamePrice(one: Item, other: Item, isSameInterval: boolean): boolean {
  const isEqual =
    isSameInterval &&
    one.proration === other.proration &&
    isDeepStrictEqual(one.price, other.price);
  return isEqual || one.price === other.price;
}

/** Returns true if an item ended and others replaced it, in the plan or in the same add-on. */
export function isReplacedBy({ price, to }: Item, others: readonly Item[]): boolean {
  return others.some((other) => placeOf(other.price) === placeOf(price) && to <= other.from);
}

/** Returns an item that replaces another one at `now`, in the plan or in the same add-on. */
export function replacementOf(
  { price }: Item,
  added: readonly Item[],
  now: number,
): Item | undefined {
  return added.find((one) => one.from === now && placeOf(one.price) === placeOf(price));
}

/** Returns the add-on that sells a price; null: a plan sells it. */
function placeOf({ seller }: SoldPrice): number | null {
  return 'addon' in seller ? seller.addon : null;
}

export function isInAdvance({ price }: Item): boolean {
  return price.timing === 'in_advance';
}

/** Returns the unit of proration; `day` for a plan without proration. */
export function unitOf({ proration }: Pick<Item, 'proration'>): 'day' | 'second' {
  return proration === 'second' ? 'second' : 'day';
}

/** Returns true for an item that is always billed at its full price. */
export function isWholeOnly({ proration }: Item): boolean {
  return proration === 'none';
}
