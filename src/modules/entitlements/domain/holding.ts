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
import type { EntitlementType } from './entitlement';
import { burn, type BurntCredit, type Credit, rolledOver, totalOf } from './grant';
import type { ResetWindow } from './reset-window';

/** What was used of an allowance in the current window. */
export interface Counter {
  readonly window: ResetWindow | null;
  readonly used: Rational;
  /** The part of it that grants covered which count no more. */
  readonly spent: Rational;
  /** The part of it that subscriptions covered when it was used; it stays covered where they allow less now. */
  readonly covered: Rational;
  /** The thresholds that were told of in this window, in percent. */
  readonly told: readonly number[];
}

/** What a customer may use of one entitlement follows from this. */
export interface Balance {
  readonly type: EntitlementType;
  /** Whether anything gives it at all. */
  readonly isHeld: boolean;
  /** What subscriptions allow; null: without a limit. */
  readonly allowance: Rational | null;
  /** What the grants that count were worth when the window began. */
  readonly granted: Rational;
  readonly isOverageAllowed: boolean;
  readonly counter: Pick<Counter, 'used' | 'spent' | 'covered'>;
}

/** What a customer has of one entitlement. */
export interface Holding extends Balance {
  readonly counter: Counter;
}

/** What may be used in the current window; null: without a limit, or nothing to count. */
export function limitOf(holding: Balance): Rational | null {
  const { type, isHeld, allowance, granted, counter } = holding;
  if (type === 'boolean') return null;
  if (!isHeld) return ZERO;
  if (allowance === null) return null;
  // Beside a grant: it is not used up by what subscriptions covered.
  const given = compare(granted, ZERO) > 0 ? greaterOf(allowance, counter.covered) : allowance;
  return add(add(given, granted), counter.spent);
}

/** What is left of the limit, never below zero; null where there is none. */
export function remainingOf(holding: Balance): Rational | null {
  const limit = limitOf(holding);
  if (holding.type !== 'metered' || limit === null) return null;
  return greaterOf(subtract(limit, holding.counter.used), ZERO);
}

/** Whether the customer may use it right now: a metered one, some more of it. */
export function hasAccess(holding: Balance): boolean {
  if (!holding.isHeld) return false;
  switch (holding.type) {
    case 'boolean':
      return true;
    case 'static': {
      const limit = limitOf(holding);
      return limit === null || compare(limit, ZERO) > 0;
    }
    case 'metered': {
      const remaining = remainingOf(holding);
      return holding.isOverageAllowed || remaining === null || compare(remaining, ZERO) > 0;
    }
  }
}

/** Whether so much more may be used: all of it fits, or what goes beyond the limit is overage. */
export function allows(holding: Balance, quantity: Rational): boolean {
  if (!holding.isHeld) return false;
  const limit = limitOf(holding);
  return (
    holding.isOverageAllowed ||
    limit === null ||
    compare(add(holding.counter.used, quantity), limit) <= 0
  );
}

/**
 * Which thresholds, in percent of the limit, usage has reached that were not told of in this window, ascending. What is
 * not held has no limit to reach.
 */
export function newlyReached(holding: Holding, thresholds: readonly number[]): readonly number[] {
  const limit = limitOf(holding);
  const { used, told } = holding.counter;
  if (holding.type !== 'metered' || !holding.isHeld || limit === null) return [];
  if (compare(used, ZERO) <= 0) return [];
  return [...new Set(thresholds)]
    .filter((percent) => !told.includes(percent))
    .filter(
      (percent) =>
        compare(multiply(used, rational(100n)), multiply(limit, rational(BigInt(percent)))) >= 0,
    )
    .sort((one, other) => one - other);
}

/** So much is used from now on: of what grants that are gone did not cover, subscriptions cover what they allow. */
export function withUsed<Counted extends Pick<Counter, 'used' | 'spent' | 'covered'>>(
  counter: Counted,
  used: Rational,
  allowance: Rational | null,
): Counted {
  const rest = greaterOf(subtract(used, counter.spent), ZERO);
  const coverable = allowance === null ? rest : greaterOf(counter.covered, allowance);
  return { ...counter, used, covered: lesserOf(rest, coverable) };
}

/**
 * How usage is spread over grants: what subscriptions allow is used up first, for the rest of it would lapse. What they
 * covered before they allowed less stays covered, and so does what grants covered that are gone.
 */
export function spreadOver(
  credits: readonly Credit[],
  allowance: Rational | null,
  { used, spent, covered }: Pick<Counter, 'used' | 'spent' | 'covered'>,
): readonly BurntCredit[] {
  const beyond =
    allowance === null
      ? ZERO
      : greaterOf(subtract(subtract(used, spent), greaterOf(allowance, covered)), ZERO);
  const { parts, uncovered } = burn(credits, beyond);
  const burnt = parts.reduce((total, part) => add(total, part.burnt), ZERO);
  invariant(
    compare(add(burnt, uncovered), beyond) === 0 && compare(burnt, totalOf(credits)) <= 0,
    'the parts of what is burnt add up',
  );
  return parts;
}

/** One grant counts no more: what it covered until then stays covered, the rest of it is gone. */
export function withoutCredit(
  counter: Counter,
  credits: readonly Credit[],
  allowance: Rational | null,
  id: string,
): { readonly counter: Counter; readonly credits: readonly Credit[] } {
  const part = spreadOver(credits, allowance, counter).find(({ credit }) => credit.id === id);
  return {
    counter: { ...counter, spent: add(counter.spent, part?.burnt ?? ZERO) },
    credits: credits.filter((credit) => credit.id !== id),
  };
}

/** Nothing is used of a window that begins; null: none does. */
export function counterFrom(window: ResetWindow | null): Counter {
  return { window, used: ZERO, spent: ZERO, covered: ZERO, told: [] };
}

/** A window ends and the next begins: nothing is used of it, and of each grant what rolls over is left. */
export function afterReset(
  counter: Counter,
  credits: readonly Credit[],
  allowance: Rational | null,
  next: ResetWindow,
): { readonly counter: Counter; readonly credits: readonly Credit[] } {
  return {
    counter: counterFrom(next),
    credits: spreadOver(credits, allowance, counter).map(({ credit, left }) => ({
      ...credit,
      balance: rolledOver(credit.rollover, left),
    })),
  };
}
