import { revise } from '../../../platform/database';
import { type ApiKey, isRolling, revoked } from './api-key';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const LATER = new Date('2026-03-02T00:00:00.000Z');

const KEY: ApiKey = {
  id: 'key_1',
  version: 1,
  name: 'Servers',
  scopes: ['usage:write'],
  prefix: 'sk_live_',
  lastFour: 'abcd',
  expiresAt: null,
  previousExpiresAt: null,
  revokedAt: null,
  lastUsedAt: null,
  requestsPerMinute: null,
  usageRequestsPerMinute: 500,
  createdBy: 'open',
  createdAt: NOW,
  updatedAt: NOW,
};

const NOTHING = {
  name: undefined,
  scopes: undefined,
  expiresAt: undefined,
  requestsPerMinute: undefined,
  usageRequestsPerMinute: undefined,
};

describe('an API key', () => {
  it.each([
    [NOTHING],
    [{ ...NOTHING, name: 'Servers' }],
    [{ ...NOTHING, scopes: ['usage:write'] as const }],
    [{ ...NOTHING, expiresAt: null }],
    [{ ...NOTHING, requestsPerMinute: null, usageRequestsPerMinute: 500 }],
  ])('stays the same with %j', (change) => {
    expect(revise(KEY, change, LATER)).toBe(KEY);
  });

  it.each([
    [{ ...NOTHING, name: 'Gateway' }, { name: 'Gateway' }],
    [{ ...NOTHING, scopes: ['*'] as const }, { scopes: ['*'] }],
    [{ ...NOTHING, expiresAt: LATER }, { expiresAt: LATER }],
    [{ ...NOTHING, requestsPerMinute: 60 }, { requestsPerMinute: 60 }],
    [{ ...NOTHING, usageRequestsPerMinute: null }, { usageRequestsPerMinute: null }],
  ])('changes with %j', (change, expected) => {
    expect(revise(KEY, change, LATER)).toEqual({
      ...KEY,
      ...expected,
      version: 2,
      updatedAt: LATER,
    });
  });

  it('is revoked once', () => {
    const once = revoked(KEY, LATER);
    expect(once).toEqual({ ...KEY, revokedAt: LATER, version: 2, updatedAt: LATER });
    expect(revoked(once, new Date('2027-01-01'))).toBe(once);
  });

  it.each([
    [null, false],
    [NOW, false],
    [LATER, true],
  ])('with a former secret until %s is rolling: %s', (previousExpiresAt, expected) => {
    expect(isRolling({ ...KEY, previousExpiresAt }, NOW)).toBe(expected);
  });
});
