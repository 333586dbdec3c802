import { parseDecimal } from '../../../core/decimal';
import { faultsOfGrant } from './grant-terms';

const NOW = new Date('2026-03-01T00:00:00Z');
const LATER = new Date('2026-03-01T00:00:00.001Z');
const one = parseDecimal('1');
const rollover = (min: string, max: string) => ({ min: parseDecimal(min), max: parseDecimal(max) });

describe('a grant', () => {
  test.each([
    ['boolean', { value: null, expiresAt: null, rollover: null }, []],
    ['boolean', { value: one, expiresAt: null, rollover: null }, ['/value']],
    ['static', { value: one, expiresAt: LATER, rollover: null }, []],
    ['static', { value: null, expiresAt: null, rollover: null }, ['/value']],
    ['static', { value: one, expiresAt: null, rollover: rollover('0', '1') }, ['/rollover']],
    ['metered', { value: one, expiresAt: null, rollover: rollover('1', '1') }, []],
    ['metered', { value: one, expiresAt: null, rollover: rollover('2', '1') }, ['/rollover/min']],
    [
      'metered',
      { value: parseDecimal('0'), expiresAt: NOW, rollover: null },
      ['/value', '/expires_at'],
    ],
  ] as const)('of a %s entitlement, %j: faults %j', (type, terms, pointers) => {
    expect(faultsOfGrant(type, terms, NOW).map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
