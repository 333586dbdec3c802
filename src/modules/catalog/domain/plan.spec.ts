import { nextTerms, type PlanVersion, type PlanVersionChange } from './plan';

const before: PlanVersion = {
  id: 'planv_1',
  planId: 'plan_1',
  number: 1,
  interval: 'year',
  intervalCount: 2,
  trialDays: 14,
  proration: 'second',
  prices: [],
  entitlements: [{ entitlementId: 'ent_1', value: '5', isHardLimit: true, reset: 'never' }],
  createdAt: new Date('2026-03-01T00:00:00.000Z'),
};
const nothing: PlanVersionChange = {
  interval: undefined,
  intervalCount: undefined,
  trialDays: undefined,
  proration: undefined,
  entitlements: undefined,
  prices: [],
};
const kept = {
  interval: 'year',
  intervalCount: 2,
  trialDays: 14,
  proration: 'second',
  entitlements: before.entitlements,
  prices: [],
};

describe('the version after one', () => {
  it.each([
    [{}],
    [{ interval: 'month' }],
    [{ intervalCount: 1 }],
    [{ trialDays: 0 }],
    [{ proration: 'none' }],
    [{ entitlements: [] }],
  ] as const)('changes %j and keeps the rest', (change) => {
    expect(nextTerms(before, { ...nothing, ...change })).toEqual({ ...kept, ...change });
  });
});
