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

/** What is left of a grant at a reset: at least `min`, at most `max`. */
export interface Rollover {
  readonly min: Rational;
  readonly max: Rational;
}

/** Something given to one customer, beside what it subscribed to. */
export interface Grant {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly entitlementId: string;
  /** Null for a boolean entitlement. */
  readonly value: Rational | null;
  /** What was left of it when the current window began; null for a boolean entitlement. */
  readonly balance: Rational | null;
  /** The lower one is used up first. */
  readonly priority: number;
  /** Exclusive; null: until it is used up. */
  readonly expiresAt: Date | null;
  /** Null: nothing is left at a reset. */
  readonly rollover: Rollover | null;
  /** Set once it counts no more. */
  readonly endedAt: Date | null;
  readonly end: GrantEnd | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new grant is made of. */
export type GrantTerms = Pick<Grant, 'value' | 'priority' | 'expiresAt' | 'rollover' | 'metadata'>;

/** A balance that usage is taken from. */
export type Credit = Pick<Grant, 'id' | 'priority' | 'expiresAt' | 'createdAt' | 'rollover'> & {
  readonly balance: Rational;
};

export interface BurntCredit {
  readonly credit: Credit;
  readonly burnt: Rational;
  readonly left: Rational;
}

/** By priority, then by what expires first, then by age. Ids of one process sort by age as well. */
export function inBurningOrder<Item extends Omit<Credit, 'balance' | 'rollover'>>(
  credits: readonly Item[],
): readonly Item[] {
  const expiryMs = ({ expiresAt }: Item): number =>
    expiresAt === null ? Number.POSITIVE_INFINITY : expiresAt.getTime();
  return [...credits].sort(
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
 * Takes an amount from credits in their order, each down to zero. What they do not cover is `uncovered`; what they lost
 * and that add up to the amount.
 */
export function burn(
  credits: readonly Credit[],
  amount: Rational,
): { readonly parts: readonly BurntCredit[]; readonly uncovered: Rational } {
  let uncovered = greaterOf(amount, ZERO);
  const parts = inBurningOrder(credits).map((credit) => {
    invariant(compare(credit.balance, ZERO) >= 0, 'a balance is never below zero');
    const burnt = lesserOf(credit.balance, uncovered);
    uncovered = subtract(uncovered, burnt);
    return { credit, burnt, left: subtract(credit.balance, burnt) };
  });
  return { parts, uncovered };
}

/** The balance after a reset: MIN(max, MAX(min, ending)); nothing without a rollover. */
export function rolledOver(rollover: Rollover | null, ending: Rational): Rational {
  return rollover === null ? ZERO : lesserOf(rollover.max, greaterOf(rollover.min, ending));
}

export function totalOf(credits: readonly Credit[]): Rational {
  return credits.reduce((total, { balance }) => add(total, balance), ZERO);
}
