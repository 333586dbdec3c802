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
 * first subscription ends, then the allowance of the remaining ones, and so on until `now`. A subscription that was
 * renewed counts with its new values once the former ones have ended.
 * @param ends by subscription id: time until which the subscription gave what is stored; at most `now`
 * @param given what the sources give now
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
 * Returns the allowance of the sources that have not ended, and of renewed ones with their new values. If a counted
 * add-on has ended and was not renewed, all sources that an add-on had replaced count again, because it is not stored
 * which add-on replaced them.
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
