import { changeTo, countsFrom, isCounted } from './mrr-change';

describe('a change of recurring revenue', () => {
  it.each([
    ['first from nothing', null, 500n, ['new', 1, 0n]],
    ['up', 500n, 700n, ['expansion', 2, 500n]],
    ['down', 500n, 1n, ['contraction', 2, 500n]],
    ['to nothing', 500n, 0n, ['churn', 2, 500n]],
    ['from nothing again', 0n, 500n, ['reactivation', 2, 0n]],
  ] as const)('%s', (_, before, afterMinor, [kind, sequence, beforeMinor]) => {
    const last = before === null ? null : { sequence: 1, afterMinor: before };
    expect(changeTo(last, afterMinor)).toEqual({ kind, sequence, beforeMinor, afterMinor });
  });

  it.each([
    [null, 0n],
    [{ sequence: 3, afterMinor: 0n }, 0n],
    [{ sequence: 3, afterMinor: 500n }, 500n],
  ] as const)('is none from %o to %s', (last, after) => {
    expect(changeTo(last, after)).toBeNull();
  });
});

describe('a change of revenue counts', () => {
  const at = (day: number) => new Date(Date.UTC(2026, 2, day));
  const [created, now] = [at(10), at(20)];
  const ahead = (ms: number) => new Date(now.getTime() + ms);

  it.each([
    ['now, if it is no due work', null, null, now],
    ['now, if other work is due later', null, at(21), now],
    ['from when its work was due, if it is the first', null, at(3), at(3)],
    ['from when its work was due, even if it is the first and late', null, at(15), at(15)],
    ['from when its work was due, if that was before the creation', at(2), at(3), at(3)],
    ['from when its work was due, at the latest at the creation', at(2), created, created],
    ['now, if its work was due after the creation', at(2), at(15), now],
    ['not before the last change', at(15), at(3), at(15)],
    ['not before the last change, up to a minute ahead', ahead(60_000), null, ahead(60_000)],
    ['now, if a wrong clock dated the last change', ahead(60_001), null, now],
  ])('%s', (_, lastAt, dueAt, expected) => {
    const last = lastAt === null ? null : { changedAt: lastAt };
    expect(countsFrom({ createdAt: created }, last, dueAt, now)).toEqual(expected);
  });
});

describe('recurring revenue', () => {
  it.each([
    ['incomplete', false],
    ['trialing', false],
    ['active', true],
    ['past_due', true],
    ['unpaid', false],
    ['paused', false],
    ['canceled', false],
    ['incomplete_expired', false],
  ] as const)('of a subscription that is %s counts: %s', (status, expected) => {
    expect(isCounted({ status })).toBe(expected);
  });
});
