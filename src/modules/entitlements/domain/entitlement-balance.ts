import { invariant } from '../../../core/invariant';
import {
  add,
  compare,
  greaterOf,
  lesserOf,
  multiply,
  rational,
  type Rational,
  subtract,
  ZERO,
} from '../../../core/decimal';
import type { Entitlement } from './entitlement';
import { burnDown, type GrantUsage, type GrantBalance, rolledOver, totalOf } from './grant';
import type { ResetWindow } from './reset-window';

/** Usage of one entitlement by one customer in the current window, and its division into plan usage and grant usage. */
export interface UsageCounter {
  readonly window: ResetWindow | null;
  /**
   * Time up to which former windows counted usage, for a balance that has lost its window. It is the start of the
   * former window if that window had no usage. A new window that includes usage from before this time counts this usage
   * as plan usage, so that it is not taken from grants. Null if the balance has a window, or never had one.
   */
  readonly coveredUntil: Date | null;
  readonly used: Rational;
  /** Part of `used` that was taken from grants that have since expired or been voided. */
  readonly expiredGrantUsage: Rational;
  /** Part of `used` that was taken from the allowance of subscriptions. A later, lower allowance does not change it. */
  readonly planUsage: Rational;
  /** Thresholds whose events were recorded in this window, in percent of the limit. */
  readonly notifiedThresholds: readonly number[];
}

/** Fields of a balance that decide what the customer may use. */
export interface AccessFields extends Pick<
  UsageCounter,
  'used' | 'expiredGrantUsage' | 'planUsage'
> {
  /** True if a subscription or a grant gives the entitlement. */
  readonly isEntitled: boolean;
  /** Quantity that subscriptions allow; null: no limit. Has no meaning for a boolean entitlement. */
  readonly allowance: Rational | null;
  /** Total balance of the active grants at the start of the window. */
  readonly granted: Rational;
  readonly isOverageAllowed: boolean;
}

export interface EntitlementBalance {
  readonly entitlement: Pick<Entitlement, 'type'>;
  readonly row: AccessFields;
}

/**
 * Returns the limit in the current window, which is allowance plus grants. Returns zero if the customer does not have
 * the entitlement. Returns null for a boolean entitlement, or if there is no limit.
 */
export function limitOf({ entitlement, row }: EntitlementBalance): Rational | null {
  const { isEntitled, allowance, granted, expiredGrantUsage, planUsage } = row;
  if (entitlement.type === 'boolean') return null;
  if (!isEntitled) return ZERO;
  if (allowance === null) return null;
  // Plan usage above a reduced allowance raises the limit, so that this usage does not use up a grant.
  return add(add(greaterOf(allowance, planUsage), granted), expiredGrantUsage);
}

/** Returns the remaining quantity, at least zero; null if there is no limit or the entitlement is not metered. */
export function remainingOf(balance: EntitlementBalance): Rational | null {
  const limit = limitOf(balance);
  if (balance.entitlement.type !== 'metered' || limit === null) return null;
  return greaterOf(subtract(limit, balance.row.used), ZERO);
}

/**
 * Returns true if the customer has the entitlement, and may use it now:
 * - a boolean entitlement: always;
 * - a static entitlement: if its limit is above zero, or if there is no limit;
 * - a metered entitlement: if some quantity is left, if there is no limit, or if overage is allowed.
 */
export function hasAccess(balance: EntitlementBalance): boolean {
  if (!balance.row.isEntitled) return false;
  switch (balance.entitlement.type) {
    case 'boolean':
      return true;
    case 'static': {
      const limit = limitOf(balance);
      return limit === null || compare(limit, ZERO) > 0;
    }
    case 'metered': {
      const remaining = remainingOf(balance);
      return balance.row.isOverageAllowed || remaining === null || compare(remaining, ZERO) > 0;
    }
  }
}

/** Returns true if an entitled customer may use this quantity: it is within the limit, or overage is allowed. */
export function allows(balance: EntitlementBalance, quantity: Rational): boolean {
  const { isEntitled, isOverageAllowed, used } = balance.row;
  if (!isEntitled) return false;
  const limit = limitOf(balance);
  return isOverageAllowed || limit === null || compare(add(used, quantity), limit) <= 0;
}

/**
 * Returns the reached thresholds for which no event was recorded in this window, ascending, in percent of the limit.
 * Returns none if the customer does not have the entitlement, or if there is no limit or no usage.
 */
export function newlyReached(
  balance: EntitlementBalance & { readonly row: Pick<UsageCounter, 'notifiedThresholds'> },
  thresholds: readonly number[],
): readonly number[] {
  const limit = limitOf(balance);
  const { isEntitled, used, notifiedThresholds } = balance.row;
  if (balance.entitlement.type !== 'metered' || !isEntitled || limit === null) return [];
  if (compare(used, ZERO) <= 0) return [];
  return [...new Set(thresholds)]
    .filter((percent) => !notifiedThresholds.includes(percent))
    .filter(
      (percent) =>
        compare(multiply(used, rational(100n)), multiply(limit, rational(BigInt(percent)))) >= 0,
    )
    .sort((one, other) => one - other);
}

/**
 * Returns a copy of the counter with the total usage `used`, of which two parts are counted separately. The rest of
 * `used` is taken from active grants, or is overage.
 * - `expiredGrantUsage` stays the same if usage rises. If usage falls, for example because a usage event was voided, it
 *   falls by the same amount. It does not fall below the part of `used` that subscriptions cannot cover.
 * - `planUsage` is `used` less `expiredGrantUsage`, at most the amount that subscriptions can cover. This amount is the
 *   allowance (null: any usage) or the former `planUsage`, whichever is greater.
 */
export function withUsed<
  Counted extends Pick<UsageCounter, 'used' | 'expiredGrantUsage' | 'planUsage'>,
>(counter: Counted, used: Rational, allowance: Rational | null): Counted {
  const coverable = allowance === null ? null : greaterOf(counter.planUsage, allowance);
  const beyond = coverable === null ? ZERO : greaterOf(subtract(used, coverable), ZERO);
  const uncounted = greaterOf(subtract(counter.used, used), ZERO);
  const expiredGrantUsage = greaterOf(
    subtract(counter.expiredGrantUsage, uncounted),
    lesserOf(counter.expiredGrantUsage, beyond),
  );
  const rest = greaterOf(subtract(used, expiredGrantUsage), ZERO);
  const planUsage = coverable === null ? rest : lesserOf(rest, coverable);
  return { ...counter, used, expiredGrantUsage, planUsage };
}

/**
 * Returns how much usage is taken from each grant. Grants cover only usage beyond the allowance or, if that is greater,
 * beyond `planUsage`. The allowance is used up before the grants, because it lapses at the end of the window. Leaves
 * out usage that expired grants have covered.
 */
export function spreadOverGrants(
  grants: readonly GrantBalance[],
  allowance: Rational | null,
  {
    used,
    expiredGrantUsage,
    planUsage,
  }: Pick<UsageCounter, 'used' | 'expiredGrantUsage' | 'planUsage'>,
): readonly GrantUsage[] {
  const beyond =
    allowance === null
      ? ZERO
      : greaterOf(
          subtract(subtract(used, expiredGrantUsage), greaterOf(allowance, planUsage)),
          ZERO,
        );
  const { parts, uncovered } = burnDown(grants, beyond);
  const taken = parts.reduce((total, part) => add(total, part.taken), ZERO);
  invariant(
    compare(add(taken, uncovered), beyond) === 0 && compare(taken, totalOf(grants)) <= 0,
    'The parts taken from grants add up.',
  );
  return parts;
}

/** Ends one grant. Usage taken from the grant becomes expired grant usage; the rest of the grant is lost. */
export function withoutGrant(
  counter: UsageCounter,
  grants: readonly GrantBalance[],
  allowance: Rational | null,
  id: string,
): { readonly counter: UsageCounter; readonly grants: readonly GrantBalance[] } {
  const part = spreadOverGrants(grants, allowance, counter).find(({ grant }) => grant.id === id);
  return {
    counter: { ...counter, expiredGrantUsage: add(counter.expiredGrantUsage, part?.taken ?? ZERO) },
    grants: grants.filter((grant) => grant.id !== id),
  };
}

export function newCounter(
  window: ResetWindow | null,
  coveredUntil: Date | null = null,
): UsageCounter {
  return {
    window,
    coveredUntil,
    used: ZERO,
    expiredGrantUsage: ZERO,
    planUsage: ZERO,
    notifiedThresholds: [],
  };
}

/** Starts the next window with no usage. Each grant keeps the balance that rolls over. */
export function afterReset(
  counter: UsageCounter,
  grants: readonly GrantBalance[],
  allowance: Rational | null,
  next: ResetWindow,
): { readonly counter: UsageCounter; readonly grants: readonly GrantBalance[] } {
  return {
    counter: newCounter(next),
    grants: spreadOverGrants(grants, allowance, counter).map(({ grant, left }) => ({
      ...grant,
      balance: rolledOver(grant.rollover, left),
    })),
  };
}
