import { compare, greaterOf, type Rational, ZERO } from '../../../core/decimal';
import type { Credit, Grant } from './grant';
import { afterReset, type Counter, counterFrom, spreadOver, withoutCredit } from './holding';
import { type Billing, type Reset, type ResetWindow, windowAt } from './reset-window';

/** What a customer used of an entitlement, and what is left of its grants. */
export interface Settlement {
  readonly counter: Counter;
  /** Those that have not ended. */
  readonly grants: readonly Grant[];
  readonly ended: readonly Grant[];
}

/** An instant at which what is left of grants is settled: one expires, or the window ends. */
export type Border =
  | { readonly kind: 'expiry'; readonly at: Date; readonly grantId: string }
  | { readonly kind: 'reset'; readonly at: Date };

/** The first border that lies in the past; at one instant a grant expires before the window ends. */
export function nextBorder({ counter, grants }: Settlement, now: Date): Border | null {
  const expiries = grants.flatMap(({ id, expiresAt }) =>
    expiresAt !== null && expiresAt <= now
      ? [{ kind: 'expiry' as const, at: expiresAt, grantId: id }]
      : [],
  );
  const first = expiries.reduce<Border | null>(
    (earliest, one) => (earliest === null || one.at < earliest.at ? one : earliest),
    null,
  );
  const endAt = counter.window?.endAt ?? null;
  if (endAt === null || endAt > now || (first !== null && first.at <= endAt)) return first;
  return { kind: 'reset', at: endAt };
}

/** A grant counts no more. What it covered stays covered in this window. */
export function endGrant(
  settlement: Settlement,
  allowance: Rational | null,
  id: string,
  how: { readonly end: 'expired' | 'voided'; readonly at: Date },
): Settlement {
  const { counter } = withoutCredit(
    settlement.counter,
    creditsOf(settlement.grants),
    allowance,
    id,
  );
  const grants = settlement.grants.filter((grant) => grant.id !== id);
  const ended = settlement.grants
    .filter((grant) => grant.id === id)
    .map((grant) => ({ ...grant, end: how.end, endedAt: how.at }));
  return { counter, grants, ended: [...settlement.ended, ...ended] };
}

/** The window ends: of each grant what rolls over is left, and one of which nothing is, has ended. */
export function reset(
  { counter, grants, ended }: Settlement,
  allowance: Rational | null,
  next: ResetWindow,
): Settlement {
  const after = afterReset(counter, creditsOf(grants), allowance, next);
  const balances = new Map(after.credits.map(({ id, balance }) => [id, balance]));
  const rolled = grants.map((grant) => ({ ...grant, balance: balances.get(grant.id) ?? null }));
  const isLeft = ({ balance }: Grant): boolean => balance === null || compare(balance, ZERO) > 0;
  return {
    counter: after.counter,
    grants: rolled.filter(isLeft),
    ended: [
      ...ended,
      ...rolled
        .filter((grant) => !isLeft(grant))
        .map((grant) => ({ ...grant, end: 'lapsed' as const, endedAt: next.startAt })),
    ],
  };
}

/** Another window takes the place of one that never ended: nothing ends with it, and what is left of grants stays. */
export function carriedInto(
  { counter, grants, ended }: Settlement,
  allowance: Rational | null,
  next: ResetWindow,
): Settlement {
  const left = new Map(
    spreadOver(creditsOf(grants), allowance, counter).map((part) => [part.credit.id, part.left]),
  );
  return {
    counter: counterFrom(next),
    grants: grants.map((grant) => ({ ...grant, balance: left.get(grant.id) ?? grant.balance })),
    ended,
  };
}

/**
 * Where nothing gives it any more, the last window is let go of once it is over, or at once where nothing was used of it:
 * no other follows, and what is given later begins anew.
 */
export function withoutOldWindow(settlement: Settlement, now: Date): Settlement {
  const { window, used, spent, told } = settlement.counter;
  const endAt = window?.endAt ?? null;
  const isOver = endAt !== null && endAt <= now;
  const isUsed = compare(used, ZERO) > 0 || compare(spent, ZERO) > 0 || told.length > 0;
  return isUsed && !isOver ? settlement : { ...settlement, counter: counterFrom(null) };
}

/**
 * The window that holds an instant: that of the subscription that counts, else, for grants alone, the one that runs, and
 * after it one that never ends.
 */
export function windowFor(
  lead: { readonly reset: Reset; readonly billing: Billing } | null,
  current: ResetWindow | null,
  at: Date,
): ResetWindow {
  if (lead !== null) return windowAt(lead.reset, lead.billing, at);
  if (current !== null && (current.endAt === null || current.endAt > at)) return current;
  return { reset: 'never', startAt: current?.endAt ?? at, endAt: null };
}

/** Periods are told apart by their starts: the end of one may still move. */
export function isSameWindow(one: ResetWindow | null, other: ResetWindow): boolean {
  return (
    one !== null &&
    one.startAt.getTime() === other.startAt.getTime() &&
    isEndless(one) === isEndless(other)
  );
}

function isEndless({ endAt }: ResetWindow): boolean {
  return endAt === null;
}

export function creditsOf(grants: readonly Grant[]): readonly Credit[] {
  return grants.map(({ id, priority, expiresAt, createdAt, rollover, balance }) => ({
    id,
    priority,
    expiresAt,
    createdAt,
    rollover,
    balance: greaterOf(balance ?? ZERO, ZERO),
  }));
}
