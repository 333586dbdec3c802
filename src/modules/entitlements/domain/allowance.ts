import { add, compare, multiply, type Rational, ZERO } from '../../../core/decimal';
import type { EntitlementMode } from './addon-entitlement';

/** An entitlement that the plan of a subscription gives. `value` is the allowed quantity. */
export interface PlanSource {
  readonly kind: 'plan';
  readonly subscriptionId: string;
  readonly planId: string;
  /** Null: no limit, or a boolean entitlement. */
  readonly value: Rational | null;
  readonly isHardLimit: boolean;
}

/** An entitlement that an add-on of a subscription gives. The allowed quantity is `value` times `quantity`. */
export interface AddonSource {
  readonly kind: 'addon';
  readonly subscriptionId: string;
  readonly addonId: string;
  readonly mode: EntitlementMode;
  /** Value per unit of the add-on; null for a boolean entitlement. */
  readonly value: Rational | null;
  readonly quantity: Rational;
}

export type AllowanceSource = PlanSource | AddonSource;

export type CountedSource = AllowanceSource & {
  /** Allowed quantity; for an add-on, that of all its units. Null: no limit, or a boolean entitlement. */
  readonly total: Rational | null;
  /** False if an add-on with mode `set` replaces this source. */
  readonly isCounted: boolean;
};

/** Quantity of one entitlement that all subscriptions of a customer allow together, and its sources. */
export interface Allowance {
  readonly sources: readonly CountedSource[];
  /** Null: no limit. Has no meaning for a boolean entitlement. */
  readonly amount: Rational | null;
  readonly isOverageAllowed: boolean;
}

/**
 * Adds up the quantities that the plans and add-ons of a customer allow. If there are add-ons with the mode `set`, the
 * greatest of their quantities replaces the quantities of the plans. The quantities of add-ons with the mode
 * `increment` are added to that. Overage is allowed if at least one plan has a soft limit.
 */
export function allowanceOf(sources: readonly AllowanceSource[]): Allowance {
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

function totalOf(source: AllowanceSource): Rational | null {
  if (source.value === null || source.kind === 'plan') return source.value;
  return multiply(source.value, source.quantity);
}

function isAddon(source: AllowanceSource): source is AddonSource {
  return source.kind === 'addon';
}

function isSetting(source: AllowanceSource): boolean {
  return source.kind === 'addon' && source.mode === 'set';
}

/** Null means no limit, so it is greater than any number. */
function isGreater(one: Rational | null, other: Rational | null): boolean {
  if (other === null) return false;
  return one === null || compare(one, other) > 0;
}
