import { parseDecimal, ZERO } from '../../../core/decimal';
import { type ConsumptionRequest, decide, firstOfKeys } from './consumption';
import type { Held } from './customer-entitlement';

const AT = new Date('2026-03-01T00:00:00Z');

function held(allowance: string, used: string, isOverageAllowed = false): Held {
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
      isHeld: true,
      allowance: parseDecimal(allowance),
      granted: ZERO,
      isOverageAllowed,
      reset: 'never',
      windowStartAt: AT,
      windowEndAt: null,
      used: parseDecimal(used),
      spent: ZERO,
      covered: ZERO,
      told: [],
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
  it('get what those before them have left, all of it or nothing', () => {
    const { decisions, used } = decide(held('10', '4'), requests('2.5', '4', '3.5', '0', '0.1'));
    expect(decisions.map(({ answer }) => [answer.isAllowed, answer.state.remaining])).toEqual([
      [true, '3.5'],
      [false, '3.5'],
      [true, '0'],
      [true, '0'],
      [false, '0'],
    ]);
    expect(used).toEqual(parseDecimal('10'));
  });

  it('go beyond a limit that is soft', () => {
    const { decisions } = decide(held('1', '0', true), requests('1', '1'));
    expect(decisions.map(({ answer }) => answer.state.used)).toEqual(['1', '2']);
  });

  it('count once by each key', () => {
    const [first, second] = requests('1', '2');
    expect(first && second && firstOfKeys([first, second, { ...first, quantity: ZERO }])).toEqual([
      first,
      second,
    ]);
  });
});
