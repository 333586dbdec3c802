import { add, parseExact, type Rational, ZERO } from '../../../core/decimal';
import { invariant } from '../../../core/invariant';
import type { BalanceRow, SourceView } from './customer-entitlement';

/** Quantity that the sources of a balance allowed together until an instant; null: no limit. */
export interface FormerAllowance {
  readonly until: Date;
  readonly allowance: Rational | null;
}

/**
 * Returns the allowances that subscriptions gave up to now, in order of time. The stored allowance applies until the
 * first subscription ends. Then the allowance of the remaining subscriptions applies until the next one ends, and so on
 * until `now`. A renewed subscription counts with its new values after its stored values have ended.
 * @param ends by subscription id: time until which the subscription gave what is stored; at most `now`
 * @param given present sources of the allowance
 */
export function formerAllowances(
  { sources, allowance, isEntitled }: Pick<BalanceRow, 'sources' | 'allowance' | 'isEntitled'>,
  ends: ReadonlyMap<string, Date>,
  given: readonly SourceView[],
  now: Date,
): readonly FormerAllowance[] {
  const passed = [...ends.values()]
    .map((end) => end.getTime())
    .filter((end) => end < now.getTime());
  const instants = [...new Set(passed)].sort((one, other) => one - other).concat(now.getTime());
  return instants.map((untilMs) => {
    const hasEnded = ({ subscriptionId }: SourceView): boolean => {
      const end = ends.get(subscriptionId ?? '');
      return end !== undefined && end.getTime() < untilMs;
    };
    const stored = isEntitled ? allowance : ZERO;
    const isWhole = !sources.some(hasEnded);
    const left = (): Rational | null => without(sources, hasEnded, given.filter(hasEnded));
    return { until: new Date(untilMs), allowance: isWhole ? stored : left() };
  });
}

/**
 * Returns the allowance that applied at an instant, which is not after now; null: no limit.
 * @param former result of `formerAllowances`
 */
export function allowanceAt(former: readonly FormerAllowance[], at: Date): Rational | null {
  const applied = former.find(({ until }) => until >= at);
  invariant(applied !== undefined, 'The instant is not after now.');
  return applied.allowance;
}

/**
 * Returns the allowance of the sources (plans and add-ons) that have not ended, and of renewed sources with their new
 * values. Sources that an add-on had replaced count again if any counted add-on has ended and was not renewed. The
 * balance does not store which add-on replaced them.
 */
function without(
  sources: readonly SourceView[],
  hasEnded: (source: SourceView) => boolean,
  renewed: readonly SourceView[],
): Rational | null {
  const isReplacementOver = sources
    .filter((one) => hasEnded(one) && one.type === 'addon' && one.isCounted)
    .some(({ id }) => !renewed.some((other) => other.id === id && other.isCounted));
  return sources
    .filter((source) => source.type !== 'grant' && !hasEnded(source))
    .filter(({ isCounted }) => isCounted || isReplacementOver)
    .concat(renewed.filter(({ isCounted }) => isCounted))
    .reduce<Rational | null>(
      (sum, { value }) => (sum === null || value === null ? null : add(sum, parseExact(value))),
      ZERO,
    );
}
