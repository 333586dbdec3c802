import { parseDecimal, ZERO } from '../../../core/decimal';
import { type ConsumptionRequest, decide, firstOfKeys } from './consumption';
import type { BalanceRecord } from './customer-entitlement';

const AT = new Date('2026-03-01T00:00:00Z');

function record(allowance: string, used: string, isOverageAllowed = false): BalanceRecord {
  return {
    entitlement: { id: 'ent_1', key: 'calls', type: 'metered', meterId: null, thresholds: [] },
    row: {
      id: 'cent_1',
      version: 1,
      customerId: 'cus_1',
      entitlementId: 'ent_1',
      testClockId: null,
      accessVersion: 1,
      rulesVersion: 1,
      validUntil: null,
      isEntitled: true,
      allowance: parseDecimal(allowance),
      granted: ZERO,
      isOverageAllowed,
      reset: 'never',
      windowStartAt: AT,
      windowEndAt: null,
      coveredUntil: null,
      used: parseDecimal(used),
      expiredGrantUsage: ZERO,
      planUsage: ZERO,
      notifiedThresholds: [],
      sources: [],
      dueAt: null,
      leaseEndsAt: null,
      createdAt: AT,
      updatedAt: AT,
    },
  };
}

function requests(...quantities: readonly string[]): readonly ConsumptionRequest[] {
  return quantities.map((quantity, index) => ({
    quantity: parseDecimal(quantity),
    idempotencyKey: `key-${index}`,
  }));
}

describe('requests decided together', () => {
  it('take from what earlier requests left, all of the quantity or nothing', () => {
    const { decisions, used } = decide(record('10', '4'), requests('2.5', '4', '3.5', '0', '0.1'));
    expect(decisions.map(({ answer }) => [answer.isAllowed, answer.state.remaining])).toEqual([
      [true, '3.5'],
      [false, '3.5'],
      [true, '0'],
      [true, '0'],
      [false, '0'],
    ]);
    expect(used).toEqual(parseDecimal('10'));
  });

  it('may exceed a soft limit', () => {
    const { decisions } = decide(record('1', '0', true), requests('1', '1'));
    expect(decisions.map(({ answer }) => answer.state.used)).toEqual(['1', '2']);
  });

  it('count once per key', () => {
    const [first, second] = requests('1', '2');
    expect(first && second && firstOfKeys([first, second, { ...first, quantity: ZERO }])).toEqual([
      first,
      second,
    ]);
  });
});
