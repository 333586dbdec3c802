import { ADDONS, type ModelPlan, type ModelPrice, PLANS } from './catalog';
import type { BilledLine } from './line';

/** What subscriptions of the reference are made of: prices, each with a quantity, for as long as they hold. */
export const FOREVER = Number.MAX_SAFE_INTEGER;

export interface Terms {
  readonly plan: number;
  readonly quantity: number;
  readonly addons: readonly { readonly addon: number; readonly quantity: number }[];
}

export interface Item {
  readonly price: ModelPrice;
  readonly quantity: number;
  /** Of the plan it was sold with, also once it goes on beside another plan. */
  readonly proration: ModelPlan['proration'];
  from: number;
  to: number;
  /** Whether the period that it was sold in was cut short: what it billed is earned. */
  isOver: boolean;
  /** Stopped by a pause, and to go on until then. */
  resumesUntil: number | null;
  billed: BilledLine[];
}

export function itemsOf(terms: Terms, from: number): Item[] {
  const { prices, proration } = planOf(terms);
  const sold = [
    { prices, quantity: terms.quantity },
    ...terms.addons.map(({ addon, quantity }) => ({
      prices: ADDONS[addon]?.prices ?? [],
      quantity,
    })),
  ].flatMap((one) => one.prices.map((price) => ({ price, quantity: one.quantity })));
  return sold.map(({ price, quantity }) => ({
    price,
    quantity: price.model === 'flat' || price.isMetered ? 1 : quantity,
    proration,
    from,
    to: FOREVER,
    isOver: false,
    resumesUntil: null,
    billed: [],
  }));
}

/** The terms from an instant on: what stays as it is goes on. */
export function swap(
  subscription: { items: Item[]; terms: Terms },
  terms: Terms,
  at: number,
): { readonly ended: readonly Item[]; readonly added: readonly Item[] } {
  const kept = subscription.items.filter(({ from }) => from <= at);
  const holding = kept.filter(({ to }) => to > at);
  const wanted = itemsOf(terms, at);
  const added = wanted.filter(
    (item) => !holding.some((one) => one.to === FOREVER && isSame(one, item)),
  );
  const ended = holding.filter(
    (item) => item.to !== FOREVER || !wanted.some((one) => isSame(one, item)),
  );
  for (const item of ended) item.to = at;
  subscription.items = [...kept, ...added];
  subscription.terms = terms;
  return { ended, added };
}

/** Tells whether a subscription has these terms, and would have them from an instant on. */
export function hasTerms(
  { items, terms: held }: { readonly items: readonly Item[]; readonly terms: Terms },
  terms: Terms,
  at: number,
): boolean {
  const isSameOffer =
    held.plan === terms.plan &&
    held.quantity === terms.quantity &&
    held.addons.length === terms.addons.length &&
    held.addons.every(({ addon, quantity }) =>
      terms.addons.some((other) => other.addon === addon && other.quantity === quantity),
    );
  const holding = items.filter(({ to }) => to > at);
  return (
    isSameOffer &&
    holding.every(({ from, to }) => from <= at && to === FOREVER) &&
    itemsOf(terms, at).every((item) => holding.some((one) => isSame(one, item)))
  );
}

/** An item keeps the proration it was sold with, whatever the plan it is beside. */
function isSame(one: Item, other: Item): boolean {
  return one.price === other.price && one.quantity === other.quantity;
}

export function planOf({ plan }: Terms): ModelPlan {
  const found = PLANS[plan];
  if (found === undefined) throw new Error(`There is no plan ${plan}.`);
  return found;
}

/** Whether an item ended and others took its place, in the plan or in the same add-on. */
export function isReplacedBy({ price, to }: Item, others: readonly Item[]): boolean {
  return others.some((other) => placeOf(other.price) === placeOf(price) && to <= other.from);
}

function placeOf(price: ModelPrice): number {
  return ADDONS.findIndex(({ prices }) => prices.includes(price));
}

export function isInAdvance({ price }: Item): boolean {
  return price.timing === 'in_advance';
}

/** What parts are measured in; also where a caller wants them of a plan that has none. */
export function unitOf({ proration }: Item): 'day' | 'second' {
  return proration === 'second' ? 'second' : 'day';
}

/** Whether the price is never prorated by itself. */
export function isWholeOnly({ proration }: Item): boolean {
  return proration === 'none';
}
