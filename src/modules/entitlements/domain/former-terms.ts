import { add, greaterOf, parseExact, type Rational, ZERO } from '../../../core/decimal';
import { invariant } from '../../../core/invariant';
import type { BalanceRow, SourceView } from './customer-entitlement';

/** Quantity that the sources of a balance allowed together until an instant; null: no limit. */
export interface FormerAllowance {
  readonly until: Date;
  readonly allowance: Rational | null;
}

/**
 * Returns what the subscriptions of a balance allowed until now, in order of time: the stored allowance until the first
 * subscription ended, then the allowance of the others, the last one until `now`.
 * @param ends time until which each subscription applied, by id; at most `now`
 */
export function formerAllowances(
  { sources, allowance, isEntitled }: Pick<BalanceRow, 'sources' | 'allowance' | 'isEntitled'>,
  ends: ReadonlyMap<string, Date>,
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
    return { until: new Date(untilMs), allowance: isWhole ? stored : without(sources, hasEnded) };
  });
}

/**
 * Returns the allowance at an instant up to now; null: no limit. Once a subscription has ended, this is at least `given`,
 * because a subscription that was renewed gives its new allowance.
 * @param former result of `formerAllowances`
 * @param given allowance now
 */
export function allowanceAt(
  former: readonly FormerAllowance[],
  at: Date,
  given: Rational | null,
): Rational | null {
  const ends = former.filter(({ until }) => until < at).length;
  const applied = former[ends];
  invariant(applied !== undefined, 'The instant is not after now.');
  const { allowance } = applied;
  if (ends === 0 || allowance === null) return allowance;
  return given === null ? null : greaterOf(allowance, given);
}

/**
 * Returns the allowance of the sources that have not ended. If a counted add-on has ended, the replaced sources count as
 * well, because it is not stored which add-on replaced them.
 */
function without(
  sources: readonly SourceView[],
  hasEnded: (source: SourceView) => boolean,
): Rational | null {
  const ended = sources.filter(hasEnded);
  const isReplacementOver = ended.some(({ type, isCounted }) => type === 'addon' && isCounted);
  return sources
    .filter((source) => source.type !== 'grant' && !hasEnded(source))
    .filter(({ isCounted }) => isCounted || isReplacementOver)
    .reduce<Rational | null>(
      (sum, { value }) => (sum === null || value === null ? null : add(sum, parseExact(value))),
      ZERO,
    );
}
