import { add, compare, multiply, type Rational, ZERO } from '../../../core/decimal';
import type { EntitlementMode } from './addon-entitlement';

/** What the plan of a subscription allows. */
export interface PlanSource {
  readonly kind: 'plan';
  readonly subscriptionId: string;
  readonly planId: string;
  /** Null: without a limit; for a boolean entitlement, nothing. */
  readonly value: Rational | null;
  readonly isHardLimit: boolean;
}

/** What an add-on of a subscription allows. */
export interface AddonSource {
  readonly kind: 'addon';
  readonly subscriptionId: string;
  readonly addonId: string;
  readonly mode: EntitlementMode;
  /** Of one add-on; null for a boolean entitlement. */
  readonly value: Rational | null;
  /** How many of the add-on are subscribed to. */
  readonly quantity: Rational;
}

export type Source = PlanSource | AddonSource;

export type CountedSource = Source & {
  /** With the quantity; null: without a limit. */
  readonly total: Rational | null;
  /** False where an add-on that sets the value takes its place. */
  readonly isCounted: boolean;
};

/** What all subscriptions of a customer allow of one entitlement together. */
export interface Allowance {
  readonly sources: readonly CountedSource[];
  /** Null: without a limit. */
  readonly amount: Rational | null;
  readonly isOverageAllowed: boolean;
}

/**
 * Adds up what subscriptions allow. An add-on that sets the value takes the place of what comes from plans, and of
 * smaller ones that set it as well; those that increment it are added after that. Where the limit of one plan is soft,
 * overage is allowed.
 */
export function allowanceOf(sources: readonly Source[]): Allowance {
  const totals = sources.map((source) => ({ source, total: totalOf(source) }));
  const setting = totals
    .filter(({ source }) => isSetting(source))
    .reduce<(typeof totals)[number] | null>(
      (greatest, one) =>
        greatest === null || isGreater(one.total, greatest.total) ? one : greatest,
      null,
    );
  const counted = totals.map(({ source, total }) => ({
    ...source,
    total,
    isCounted:
      setting === null || source === setting.source || (isAddon(source) && !isSetting(source)),
  }));
  return {
    sources: counted,
    amount: counted
      .filter(({ isCounted }) => isCounted)
      .reduce<Rational | null>(
        (sum, { total }) => (sum === null || total === null ? null : add(sum, total)),
        ZERO,
      ),
    isOverageAllowed: sources.some((source) => source.kind === 'plan' && !source.isHardLimit),
  };
}

function totalOf(source: Source): Rational | null {
  if (source.value === null || source.kind === 'plan') return source.value;
  return multiply(source.value, source.quantity);
}

function isAddon(source: Source): source is AddonSource {
  return source.kind === 'addon';
}

function isSetting(source: Source): boolean {
  return source.kind === 'addon' && source.mode === 'set';
}

/** Without a limit is the greatest. */
function isGreater(one: Rational | null, other: Rational | null): boolean {
  if (other === null) return false;
  return one === null || compare(one, other) > 0;
}
