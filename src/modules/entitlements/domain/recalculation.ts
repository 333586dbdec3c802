import {
  add,
  compare,
  greaterOf,
  lesserOf,
  type Rational,
  subtract,
  ZERO,
} from '../../../core/decimal';
import type { GrantBalance, Grant } from './grant';
import {
  afterReset,
  type UsageCounter,
  newCounter,
  spreadOverGrants,
  withoutGrant,
  withUsed,
} from './entitlement-balance';
import { type ResetWindow, windowAt, type WindowRule } from './reset-window';

export interface Recalculation {
  readonly counter: UsageCounter;
  /** Grants that have not ended. */
  readonly grants: readonly Grant[];
  readonly ended: readonly Grant[];
}

/** Time at which grant balances change, because a grant expires or the window ends. */
export type BalanceBoundary =
  | { readonly kind: 'expiry'; readonly at: Date; readonly grantId: string }
  | { readonly kind: 'reset'; readonly at: Date };

/** Returns the first boundary at or before `now`, or null. If several coincide, expiries come before the reset. */
export function nextBoundary(
  { counter, grants }: Recalculation,
  now: Date,
): BalanceBoundary | null {
  const expiries = grants.flatMap(({ id, expiresAt }) =>
    expiresAt !== null && expiresAt <= now
      ? [{ kind: 'expiry' as const, at: expiresAt, grantId: id }]
      : [],
  );
  const first = expiries.reduce<BalanceBoundary | null>(
    (earliest, one) => (earliest === null || one.at < earliest.at ? one : earliest),
    null,
  );
  const endAt = counter.window?.endAt ?? null;
  if (endAt === null || endAt > now || (first !== null && first.at <= endAt)) return first;
  return { kind: 'reset', at: endAt };
}

/** Ends a grant. Usage taken from it becomes expired grant usage of the window; the rest of the grant is lost. */
export function endGrant(
  state: Recalculation,
  allowance: Rational | null,
  id: string,
  how: { readonly end: 'expired' | 'voided'; readonly at: Date },
): Recalculation {
  const { counter } = withoutGrant(state.counter, grantBalancesOf(state.grants), allowance, id);
  const grants = state.grants.filter((grant) => grant.id !== id);
  const ended = state.grants
    .filter((grant) => grant.id === id)
    .map((grant) => ({ ...grant, end: how.end, endedAt: how.at }));
  return { counter, grants, ended: [...state.ended, ...ended] };
}

/** Ends the grants that have expired. Only for entitlements that are not metered, because these have no windows. */
export function withoutExpired(start: Recalculation, now: Date): Recalculation {
  const isOver = ({ expiresAt }: Grant): boolean => expiresAt !== null && expiresAt <= now;
  return {
    ...start,
    grants: start.grants.filter((grant) => !isOver(grant)),
    ended: start.grants
      .filter(isOver)
      .map((grant) => ({ ...grant, end: 'expired' as const, endedAt: grant.expiresAt })),
  };
}

/**
 * Ends the window and starts the window `next`. Each grant keeps the balance that its rollover allows. A grant that
 * keeps nothing lapses.
 * @param at time of the reset. If the reset replaces a window before its end, `next` may have started before `at`.
 */
export function reset(
  { counter, grants, ended }: Recalculation,
  allowance: Rational | null,
  next: ResetWindow,
  at: Date,
): Recalculation {
  const after = afterReset(counter, grantBalancesOf(grants), allowance, next);
  const balances = new Map(after.grants.map(({ id, balance }) => [id, balance]));
  const rolled = grants.map((grant) => ({ ...grant, balance: balances.get(grant.id) ?? null }));
  const isLeft = ({ balance }: Grant): boolean => balance === null || compare(balance, ZERO) > 0;
  return {
    counter: after.counter,
    grants: rolled.filter(isLeft),
    ended: [
      ...ended,
      ...rolled
        .filter((grant) => !isLeft(grant))
        .map((grant) => ({ ...grant, end: 'lapsed' as const, endedAt: at })),
    ],
  };
}

/**
 * Starts the window `next` for a balance without a window, or with a window that has no end. No grant lapses. Each
 * grant keeps its remaining quantity.
 */
export function carryInto(
  { counter, grants, ended }: Recalculation,
  allowance: Rational | null,
  next: ResetWindow,
): Recalculation {
  const left = new Map(
    spreadOverGrants(grantBalancesOf(grants), allowance, counter).map((part) => [
      part.grant.id,
      part.left,
    ]),
  );
  return {
    counter: newCounter(next),
    grants: grants.map((grant) => ({ ...grant, balance: left.get(grant.id) ?? grant.balance })),
    ended,
  };
}

/**
 * Returns the counter of a window that replaces the former window before its end, so that usage may count in both. Plan
 * usage stays plan usage. Usage taken from grants becomes expired grant usage, because it has already lowered the
 * balances of the grants. Keeps the notified thresholds.
 * - If the new window starts later, usage taken from grants may lie before its start. Therefore only usage beyond the
 *   new allowance counts as taken from grants.
 * - If the new window starts earlier, other windows have already counted the usage between the two starts. This usage
 *   becomes plan usage, so that it is not taken from grants.
 * - Without a former window, the usage before `coveredUntil` becomes plan usage. Earlier windows have counted it.
 * @param former usage and grants before the replacement
 * @param allowance allowance of the former window
 */
export function counterOfReplacement(
  { counter, grants }: Recalculation,
  allowance: Rational | null,
  next: {
    readonly window: ResetWindow;
    readonly used: Rational;
    /**
     * Part of `used` that other windows may already have counted: the usage before the start of the former window.
     * Without a former window, this is the usage before `coveredUntil`. Zero if the new window does not start before
     * that time. Without a meter, it is either zero or all of `used`.
     */
    readonly earlier: Rational;
    readonly allowance: Rational | null;
  },
): UsageCounter {
  const taken = spreadOverGrants(grantBalancesOf(grants), allowance, counter).reduce(
    (total, part) => add(total, part.taken),
    counter.expiredGrantUsage,
  );
  const isWhole = counter.window !== null && next.window.startAt <= counter.window.startAt;
  const payable = isWhole ? next.used : subtract(next.used, next.allowance ?? next.used);
  const earlier = lesserOf(next.earlier, subtract(next.used, counter.used));
  const { planUsage } = withUsed(counter, counter.used, allowance);
  const replaced = {
    ...newCounter(next.window),
    expiredGrantUsage: lesserOf(taken, greaterOf(payable, ZERO)),
    planUsage: add(planUsage, greaterOf(earlier, ZERO)),
    notifiedThresholds: counter.notifiedThresholds,
  };
  return withUsed(replaced, next.used, next.allowance);
}

/** Returns the time at which the last subscription or grant ended; null if none is known. */
export function lastEndOf(
  subscriptionEnds: ReadonlyMap<string, Date>,
  ended: readonly Pick<Grant, 'endedAt'>[],
): Date | null {
  const ends = [...subscriptionEnds.values(), ...ended.flatMap(({ endedAt }) => endedAt ?? [])];
  return ends.length === 0 ? null : new Date(Math.max(...ends.map((end) => end.getTime())));
}

/**
 * Drops the window of a balance if the window has ended or has no usage. Only for a customer who has lost the
 * entitlement, or did not have it until now. Sets `coveredUntil` to the time up to which usage was counted, because a
 * later window may contain such usage.
 * @param state contains the usage up to `lastEnd`, because later usage does not keep the window
 * @param lastEnd when the last subscription or grant ended; null: unknown. Usage up to this time was counted, even
 *   usage after the end of the window.
 */
export function dropUnneededWindow(
  state: Recalculation,
  now: Date,
  lastEnd: Date | null,
): Recalculation {
  const { window, used, expiredGrantUsage } = state.counter;
  if (window === null) return state;
  const { startAt, endAt } = window;
  if (endAt !== null && endAt <= now) {
    const isLater = lastEnd !== null && lastEnd > endAt;
    return { ...state, counter: newCounter(null, isLater ? lastEnd : endAt) };
  }
  const isUsed = compare(used, ZERO) > 0 || compare(expiredGrantUsage, ZERO) > 0;
  return isUsed ? state : { ...state, counter: newCounter(null, startAt) };
}

/**
 * If the window has ended before `now`, enters the window that contains `now`, without usage. Only for balances without
 * grants, because grants do not roll over here.
 */
export function withoutEnded(
  state: Recalculation,
  rule: WindowRule | null,
  now: Date,
): Recalculation {
  const { window } = state.counter;
  const isOver = window !== null && window.endAt !== null && window.endAt < now;
  return isOver ? { ...state, counter: newCounter(windowFor(rule, window, now)) } : state;
}

/**
 * Returns the usage window that contains `at`.
 * @param rule when a subscription's windows begin and end. Null if there are only grants: the current window then keeps
 *   its end, and the window after it has no end.
 */
export function windowFor(
  rule: WindowRule | null,
  current: ResetWindow | null,
  at: Date,
): ResetWindow {
  if (rule !== null) return windowAt(rule.reset, rule.billing, at);
  if (current !== null && (current.endAt === null || current.endAt > at)) return current;
  return { reset: 'never', startAt: current?.endAt ?? at, endAt: null };
}

/**
 * Returns true if two windows have the same start, and either both have an end or both have none. Does not compare the
 * ends, because the end of a billing period may still move.
 */
export function isSameWindow(one: ResetWindow | null, other: ResetWindow): boolean {
  return (
    one !== null &&
    one.startAt.getTime() === other.startAt.getTime() &&
    isEndless(one) === isEndless(other)
  );
}

/** Returns true if two windows have the same start and the same end, or if both are null. */
export function isSameSpan(one: ResetWindow | null, other: ResetWindow | null): boolean {
  if (one === null || other === null) return one === other;
  return isSameWindow(one, other) && one.endAt?.getTime() === other.endAt?.getTime();
}

/**
 * Returns true if `other` is a new window that may contain usage that was already counted. Such a window starts before
 * the counter's window ends. If the counter has no window, it starts before `coveredUntil`, the time up to which former
 * windows counted usage.
 */
export function isReplacedBy(
  { window, coveredUntil }: Pick<UsageCounter, 'window' | 'coveredUntil'>,
  other: ResetWindow,
): boolean {
  if (window === null) return coveredUntil !== null && coveredUntil > other.startAt;
  if (isSameWindow(window, other)) return false;
  return window.endAt === null || window.endAt > other.startAt;
}

function isEndless({ endAt }: ResetWindow): boolean {
  return endAt === null;
}

export function grantBalancesOf(grants: readonly Grant[]): readonly GrantBalance[] {
  return grants.map(({ id, priority, expiresAt, createdAt, rollover, balance }) => ({
    id,
    priority,
    expiresAt,
    createdAt,
    rollover,
    balance: greaterOf(balance ?? ZERO, ZERO),
  }));
}
