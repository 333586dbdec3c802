import { ADDONS, type ModelPlan, type ModelPrice, PLANS } from './catalog';

/** A price of a plan or of an add-on. */
export interface SoldPrice extends ModelPrice {
  readonly seller: { readonly plan: number } | { readonly addon: number };
}

type VersionTerms = Pick<ModelPlan, 'interval' | 'proration'>;

export interface PlanVersion extends VersionTerms {
  readonly plan: number;
  /** Counts from 1. */
  readonly number: number;
  readonly prices: readonly SoldPrice[];
}

type Addons = readonly { readonly addon: number; readonly quantity: number }[];

/** Plan, quantities and add-ons of a subscription. */
export interface Terms {
  readonly version: PlanVersion;
  readonly quantity: number;
  readonly addons: Addons;
}

export interface NewTerms {
  readonly plan: number;
  readonly quantity: number;
  readonly addons: Addons;
}

/** A change of terms; null keeps the present value. */
export interface TermsChange {
  readonly plan: number | null;
  readonly version: 'current' | 'latest' | PlanVersion | null;
  readonly quantity: number | null;
  readonly addons: Addons | null;
}

const ADDON_PRICES: readonly (readonly SoldPrice[])[] = ADDONS.map(({ prices }, addon) =>
  prices.map((price) => ({ ...price, seller: { addon } })),
);

/** Returns true if a price belongs to a plan. */
export function isOfPlan({ seller }: SoldPrice, plan: number): boolean {
  return 'plan' in seller && seller.plan === plan;
}

export function addonPrices(addon: number): readonly SoldPrice[] {
  return ADDON_PRICES[addon] ?? [];
}

/** The catalogue of one sequence: the versions of each plan, and the archived plans and add-ons. */
export class Offers {
  readonly archivedPlans = new Set<number>();
  readonly archivedAddons = new Set<number>();
  private readonly versions: PlanVersion[][] = PLANS.map((terms, plan) => [
    { plan, number: 1, ...terms, prices: sold(plan, terms.prices) },
  ]);

  /** Returns the versions of a plan, oldest first. */
  versionsOf(plan: number): readonly PlanVersion[] {
    return this.versions[plan] ?? [];
  }

  /** Returns the code of the refusal, if there is one. Omitted terms are copied from the former version. */
  activate(
    plan: number,
    prices: readonly ModelPrice[],
    terms: Partial<VersionTerms>,
  ): string | null {
    if (this.archivedPlans.has(plan)) return 'plan_not_found';
    const before = this.activeVersion(plan);
    const number = before.number + 1;
    this.versions[plan]?.push({ ...before, ...terms, number, prices: sold(plan, prices) });
    return null;
  }

  /** Returns the terms of a new subscription, or the code of the refusal. */
  forNew({ plan, quantity, addons }: NewTerms): Terms | string {
    if (this.archivedPlans.has(plan)) return 'reference_not_found';
    if (addons.some(({ addon }) => this.archivedAddons.has(addon))) return 'reference_not_found';
    return { version: this.activeVersion(plan), quantity, addons };
  }

  /**
   * Returns the terms after a change, or the code of the refusal. Accepts archived plans and add-ons that the
   * subscription already has.
   */
  forChange(held: Terms, change: TermsChange): Terms | string {
    const plan = change.plan ?? held.version.plan;
    const choice = change.version ?? (change.plan === null ? 'current' : 'latest');
    if (choice === 'current' && plan !== held.version.plan) return 'subscription_terms_contradict';
    const version = this.chosen(held, plan, choice);
    const isSold = version === held.version || !this.archivedPlans.has(plan);
    if (version.plan !== plan || !isSold) return 'reference_not_found';
    const addons = change.addons ?? held.addons;
    const has = (addon: number): boolean => held.addons.some((one) => one.addon === addon);
    const isGone = ({ addon }: Addons[number]): boolean =>
      this.archivedAddons.has(addon) && !has(addon);
    if (addons.some(isGone)) return 'reference_not_found';
    return { version, quantity: change.quantity ?? held.quantity, addons };
  }

  private chosen(
    held: Terms,
    plan: number,
    choice: Exclude<TermsChange['version'], null>,
  ): PlanVersion {
    if (choice === 'current') return held.version;
    return choice === 'latest' ? this.activeVersion(plan) : choice;
  }

  private activeVersion(plan: number): PlanVersion {
    const active = this.versionsOf(plan).at(-1);
    if (active === undefined) throw new Error(`There is no plan ${plan}.`);
    return active;
  }
}

function sold(plan: number, prices: readonly ModelPrice[]): readonly SoldPrice[] {
  return prices.map((price) => ({ ...price, seller: { plan } }));
}
