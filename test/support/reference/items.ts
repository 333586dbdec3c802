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
  /** Of the plan it was sold with. */
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
  const isSame = (one: Item, other: Item): boolean =>
    one.price === other.price &&
    one.quantity === other.quantity &&
    one.proration === other.proration;
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

export function planOf({ plan }: Terms): ModelPlan {
  const found = PLANS[plan];
  if (found === undefined) throw new Error(`There is no plan ${plan}.`);
  return found;
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
