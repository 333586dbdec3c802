import { invariant } from '../../../core/invariant';
import {
  add,
  compare,
  greaterOf,
  lesserOf,
  type Rational,
  subtract,
  ZERO,
} from '../../../core/decimal';
import type { Metadata } from '../../../core/metadata';

export const GRANT_ENDS = ['expired', 'lapsed', 'voided'] as const;
export type GrantEnd = (typeof GRANT_ENDS)[number];

/** Limits for the balance that a grant keeps at the end of a window: at least `min`, at most `max`. */
export interface Rollover {
  readonly min: Rational;
  readonly max: Rational;
}

/**
 * An entitlement that one customer gets in addition to the entitlements of its subscriptions. If the entitlement is not
 * boolean, the grant gives a quantity of it.
 */
export interface Grant {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly entitlementId: string;
  /** Granted quantity; null for a boolean entitlement. */
  readonly value: Rational | null;
  /** Balance at the start of the current window; null for a boolean entitlement. */
  readonly balance: Rational | null;
  /** Grants with the lowest number are used up first. */
  readonly priority: number;
  /** Instant at which the grant expires, exclusive; null: the grant does not expire. */
  readonly expiresAt: Date | null;
  /** Null: nothing is kept at the end of a window, so the grant lapses. */
  readonly rollover: Rollover | null;
  /** Time at which the grant expired, lapsed or was voided; null while it is active. */
  readonly endedAt: Date | null;
  readonly end: GrantEnd | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type GrantTerms = Pick<Grant, 'value' | 'priority' | 'expiresAt' | 'rollover' | 'metadata'>;

export type GrantBalance = Pick<
  Grant,
  'id' | 'priority' | 'expiresAt' | 'createdAt' | 'rollover'
> & {
  readonly balance: Rational;
};

export interface GrantUsage {
  readonly grant: GrantBalance;
  readonly taken: Rational;
  readonly left: Rational;
}

/** Sorts grants by priority, then by expiry, then by creation time, then by id. */
export function inBurnDownOrder<Item extends Omit<GrantBalance, 'balance' | 'rollover'>>(
  grants: readonly Item[],
): readonly Item[] {
  const expiryMs = ({ expiresAt }: Item): number =>
    expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime();
  return [...grants].sort(
    (one, other) =>
      one.priority - other.priority ||
      ascending(expiryMs(one), expiryMs(other)) ||
      ascending(one.createdAt.getTime(), other.createdAt.getTime()) ||
      (one.id < other.id ? -1 : 1),
  );
}

function ascending(one: number, other: number): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/**
 * Takes an amount from grants in burn-down order. A grant is used down to zero before the next one is used. `uncovered`
 * is the part of the amount that exceeds all grants together.
 */
export function burnDown(
  grants: readonly GrantBalance[],
  amount: Rational,
): { readonly parts: readonly GrantUsage[]; readonly uncovered: Rational } {
  let uncovered = greaterOf(amount, ZERO);
  const parts = inBurnDownOrder(grants).map((grant) => {
    invariant(compare(grant.balance, ZERO) >= 0, 'A grant balance is never below zero.');
    const taken = lesserOf(grant.balance, uncovered);
    uncovered = subtract(uncovered, taken);
    return { grant, taken, left: subtract(grant.balance, taken) };
  });
  return { parts, uncovered };
}

/**
 * Returns the balance of a grant after a reset: the balance at the end of the window (`ending`), raised to `min`, then
 * lowered to `max`. Returns zero if the grant has no rollover.
 */
export function rolledOver(rollover: Rollover | null, ending: Rational): Rational {
  return rollover === null ? ZERO : lesserOf(rollover.max, greaterOf(rollover.min, ending));
}

export function totalOf(grants: readonly GrantBalance[]): Rational {
  return grants.reduce((total, { balance }) => add(total, balance), ZERO);
}
