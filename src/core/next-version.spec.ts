import { changedAt, nextVersion } from './next-version';

describe('nextVersion', () => {
  const before = { version: 4, updatedAt: new Date('2026-01-01'), name: 'Pro', code: 'pro' };
  const now = new Date('2026-02-01');

  it('counts the version, sets the time of the change, and keeps other fields', () => {
    expect(nextVersion(before, now, { name: 'Plus' })).toEqual({
      version: 5,
      updatedAt: now,
      name: 'Plus',
      code: 'pro',
    });
  });

  it('keeps the time of a change that a clock which is ahead made', () => {
    expect(nextVersion({ ...before, updatedAt: now }, new Date('2026-01-31')).updatedAt).toBe(now);
  });

  it('is 1 after the largest integer', () => {
    expect(nextVersion({ ...before, version: 2_147_483_646 }, now).version).toBe(2_147_483_647);
    expect(nextVersion({ ...before, version: 2_147_483_647 }, now).version).toBe(1);
  });

  it('leaves the former version as it was', () => {
    nextVersion(before, now);
    expect(before).toMatchObject({ version: 4, name: 'Pro' });
  });
});

describe('changedAt', () => {
  const now = new Date('2026-02-01T00:00:00.000Z');
  const ahead = (ms: number) => ({ updatedAt: new Date(now.getTime() + ms) });

  it('is the latest change up to a minute ahead, whatever a wrong clock wrote', () => {
    expect(changedAt(now, null, ahead(-1))).toEqual(now);
    expect(changedAt(now, ahead(60_000), null, ahead(60_001), ahead(5))).toEqual(
      ahead(60_000).updatedAt,
    );
  });
});
