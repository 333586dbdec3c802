import {
  changeTo,
  revenueSpanOf,
  firstRevenueAt,
  isCounted,
  isActiveUntil,
  type SubscriptionState,
} from './mrr-change';

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

describe('the time in which an older subscription earned', () => {
  const [start, trialEnd, stop] = ['2026-01-01', '2026-01-15', '2026-03-01'].map(
    (text) => new Date(text),
  ) as [Date, Date, Date];
  const of = (fields: Partial<SubscriptionState>) =>
    revenueSpanOf({ startAt: start, trialEndAt: null, ...fields } as SubscriptionState);

  it.each<[string, Partial<SubscriptionState>, [Date, Date | null] | null]>([
    ['from its start', { status: 'active' }, [start, null]],
    ['from the end of its trial', { status: 'past_due', trialEndAt: trialEnd }, [trialEnd, null]],
    ['to its end', { status: 'canceled', endedAt: stop }, [start, stop]],
    ['to its pause', { status: 'paused', pausedAt: stop }, [start, stop]],
    ['to its last change if it is unpaid', { status: 'unpaid', updatedAt: stop }, [start, stop]],
    [
      'never if it ended in its trial',
      { status: 'canceled', trialEndAt: trialEnd, endedAt: start },
      null,
    ],
    ['never in a trial', { status: 'trialing' }, null],
    ['never before its start', { status: 'incomplete' }, null],
    ['never without its first payment', { status: 'incomplete_expired', endedAt: stop }, null],
  ])('runs %s', (_, fields, expected) => {
    expect(of(fields)).toEqual(
      expected === null ? null : { startAt: expected[0], endAt: expected[1] },
    );
  });

  it.each([
    [start, null, true],
    [start, stop, true],
    [start, trialEnd, false],
    [stop, null, false],
  ])('ends with what was held from %s to %s: %s', (startAt, endAt, expected) => {
    expect(isActiveUntil({ startAt, endAt }, stop)).toBe(expected);
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
