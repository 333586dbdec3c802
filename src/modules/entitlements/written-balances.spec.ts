import { rational } from '../../core/decimal';
import type { BalanceRow, SourceView } from './domain/customer-entitlement';
import { WrittenBalances } from './written-balances';

const NOW = new Date('2026-03-01T00:00:00Z');
const TARGET = { customerId: 'cus_1', key: 'calls', eventName: null };

function write(balances: WrittenBalances, name: string, sources: number): void {
  const source: SourceView = {
    type: 'grant',
    id: 'grant_1',
    subscriptionId: null,
    value: '1',
    isCounted: true,
  };
  const row: BalanceRow = {
    id: name,
    version: 1,
    customerId: 'cus_1',
    entitlementId: 'ent_1',
    testClockId: null,
    accessVersion: 1,
    rulesVersion: 1,
    isEntitled: true,
    allowance: null,
    granted: rational(0n),
    isOverageAllowed: false,
    validUntil: null,
    reset: null,
    windowStartAt: null,
    windowEndAt: null,
    coveredUntil: null,
    used: rational(0n),
    expiredGrantUsage: rational(0n),
    planUsage: rational(0n),
    notifiedThresholds: [],
    sources: Array.from({ length: sources }, () => source),
    dueAt: null,
    leaseEndsAt: null,
    createdAt: NOW,
    updatedAt: NOW,
  };
  const entitlement = {
    id: 'ent_1',
    key: 'calls',
    type: 'metered' as const,
    meterId: null,
    thresholds: [],
  };
  const balance = {
    record: { entitlement, row },
    stream: null,
    entitlementVersion: 1,
    readAt: NOW,
  };
  balances.recordWrite(name, TARGET, { balance, after: null, decisions: [], events: [] });
}

describe('written balances', () => {
  it.each([
    [15_000, 1],
    [1_000, 100],
  ])(
    'hold %s with %s sources, and forget those written first beyond their memory',
    (many, sources) => {
      const balances = new WrittenBalances();
      const isKept = (name: string) => balances.findOwn(name, NOW) !== undefined;
      for (let number = 1; number <= many; number += 1) write(balances, `${number}`, sources);
      expect(isKept('1')).toBe(true);
      for (let number = 1; number <= 3 * many; number += 1)
        write(balances, `other ${number}`, sources);
      expect(['1', `${many}`, `other ${3 * many}`].map(isKept)).toEqual([false, false, true]);
    },
  );
});
