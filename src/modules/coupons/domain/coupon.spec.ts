import { type CouponTerms, faultsOfTerms } from './coupon';

const NOW = new Date('2026-03-01T00:00:00.000Z');

const percent: CouponTerms = {
  code: null,
  name: null,
  type: 'percent',
  percentOff: '20',
  amountOff: null,
  currency: null,
  duration: 'once',
  durationInMonths: null,
  maxRedemptions: null,
  redeemBy: null,
  planIds: [],
  metadata: {},
};
const amount: CouponTerms = {
  ...percent,
  type: 'amount',
  percentOff: null,
  amountOff: 500n,
  currency: 'USD',
};

describe('the terms of a coupon', () => {
  it.each([
    ['a percentage', percent],
    ['an amount with its currency', amount],
    ['repeating with a length', { ...percent, duration: 'repeating', durationInMonths: 3 }],
    [
      'to be redeemed a millisecond from now',
      { ...percent, redeemBy: new Date(NOW.getTime() + 1) },
    ],
  ] as const)('hold together: %s', (_, terms) => {
    expect(faultsOfTerms(terms, NOW)).toEqual([]);
  });

  it.each([
    ['/percent_off', { ...percent, percentOff: null }],
    ['/percent_off', { ...amount, percentOff: '20' }],
    ['/amount_off', { ...amount, amountOff: null }],
    ['/amount_off', { ...percent, amountOff: 500n }],
    ['/currency', { ...amount, currency: null }],
    ['/currency', { ...percent, currency: 'USD' }],
    ['/duration_in_months', { ...percent, duration: 'repeating' }],
    ['/duration_in_months', { ...percent, durationInMonths: 3 }],
    ['/redeem_by', { ...percent, redeemBy: NOW }],
  ] as const)('contradict each other at %s', (pointer, terms) => {
    expect(faultsOfTerms(terms, NOW).map((fault) => fault.pointer)).toEqual([pointer]);
  });
});
