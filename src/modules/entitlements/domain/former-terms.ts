import { add, parseExact, type Rational, ZERO } from '../../../core/decimal';
import { invariant } from '../../../core/invariant';
import type { BalanceRow, SourceView } from './customer-entitlement';

/** Quantity that the sources of a balance allowed together until an instant; null: no limit. */
export interface FormerAllowance {
  readonly until: Date;
  readonly allowance: Rational | null;
}

/**
 * Returns what the subscriptions of a balance allowed until now, in order of time: the stored allowance until the first
 * subscription ended, then the allowance of the others, the last one until `now`. A subscription that was renewed gives
 * its new values after the end of the former ones.
 * @param ends time until which each subscription gave what is stored, by id; at most `now`
 * @param given sources now
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
 * Returns the allowance at an instant up to now; null: no limit.
 * @param former result of `formerAllowances`
 */
export function allowanceAt(former: readonly FormerAllowance[], at: Date): Rational | null {
  const applied = former.find(({ until }) => until >= at);
  invariant(applied !== undefined, 'The instant is not after now.');
  return applied.allowance;
}

/**
 * Returns the allowance of the sources that have not ended, and of those that follow ended ones. If a counted add-on has
 * ended and does not follow itself, the replaced sources count as well, because it is not stored which add-on replaced
 * them.
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
