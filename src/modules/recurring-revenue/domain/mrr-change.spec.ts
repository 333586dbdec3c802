import { changeTo, firstRevenueAt, isCounted, revenueStartOf } from './mrr-change';

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

describe('the revenue of a subscription', () => {
  const [start, later] = [new Date('2026-01-01'), new Date('2026-01-15')] as const;

  it.each([
    ['at its start', start, null, start],
    ['at the end of its trial', start, later, later],
    ['at its start if its trial ended earlier', later, start, later],
  ])('begins %s', (_, startAt, trialEndAt, expected) => {
    expect(revenueStartOf({ startAt, trialEndAt })).toBe(expected);
  });
});

describe('the first revenue of a subscription', () => {
  const [start, later, ended, now] = ['2026-01-01', '2026-02-01', '2026-02-15', '2026-03-01'].map(
    (text) => new Date(text),
  ) as [Date, Date, Date, Date];

  it.each([
    ['at its start', [{ startAt: start }], [], start],
    ['when prices replaced free ones', [{ startAt: start }, { startAt: later }], [], later],
    [
      'now after a coupon that ended',
      [{ startAt: start }],
      [{ endedAt: ended, endsAt: null }],
      now,
    ],
    [
      'now after the months of a coupon',
      [{ startAt: start }],
      [{ endedAt: null, endsAt: later }],
      now,
    ],
    ['at its start beside a running coupon', [], [{ endedAt: null, endsAt: null }], start],
    ['at its start before prices that are ahead', [{ startAt: new Date('2026-04-01') }], [], start],
  ])('begins %s', (_, items, coupons, expected) => {
    expect(firstRevenueAt(start, items, coupons, now)).toEqual(expected);
  });

  it('never begins ahead', () => {
    expect(firstRevenueAt(now, [], [], later)).toEqual(later);
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
