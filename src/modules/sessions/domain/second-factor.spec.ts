import { afterProof, isEnabled, type SecondFactor, withRecoveryCodes } from './second-factor';

const CREATED = new Date('2026-03-01T09:30:00.000Z');
const NOW = new Date('2026-03-01T09:31:00.000Z');

const FACTOR: SecondFactor = {
  id: 'sf_1',
  version: 1,
  adminId: 'admin_1',
  sealedSecret: 'v1:k:x',
  lastStep: 100,
  recoveryHashes: ['a', 'b'],
  enabledAt: CREATED,
  createdAt: CREATED,
  updatedAt: CREATED,
};

describe('a second factor', () => {
  it.each([
    [101, 101],
    [100, undefined],
    [99, undefined],
    [null, undefined],
  ])('accepts the code of step %s after that of step 100: %s', (step, lastStep) => {
    const after = afterProof(FACTOR, { step }, NOW);
    expect(after?.lastStep).toBe(lastStep);
    if (after !== null) expect(after).toEqual({ ...FACTOR, lastStep });
  });

  it('accepts the first code of any step', () => {
    expect(afterProof({ ...FACTOR, lastStep: null }, { step: 1 }, NOW)?.lastStep).toBe(1);
  });

  it('accepts a recovery code once', () => {
    const after = afterProof(FACTOR, { recoveryHash: 'a' }, NOW);
    expect(after).toEqual({ ...FACTOR, recoveryHashes: ['b'], version: 2, updatedAt: NOW });
    expect(afterProof(after ?? FACTOR, { recoveryHash: 'a' }, NOW)).toBeNull();
    expect(afterProof(FACTOR, { recoveryHash: 'c' }, NOW)).toBeNull();
  });

  it('is enabled with its first recovery codes, and stays enabled with later ones', () => {
    const pending = { ...FACTOR, enabledAt: null, recoveryHashes: [] };
    expect([isEnabled(null), isEnabled(pending), isEnabled(FACTOR)]).toEqual([false, false, true]);
    expect(withRecoveryCodes(pending, ['x'], NOW)).toEqual({
      ...pending,
      recoveryHashes: ['x'],
      enabledAt: NOW,
      version: 2,
      updatedAt: NOW,
    });
    expect(withRecoveryCodes(FACTOR, ['x'], NOW).enabledAt).toBe(CREATED);
  });
});
