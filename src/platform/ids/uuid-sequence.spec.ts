import { UuidSequence } from './uuid-sequence';

const NOW_MS = Date.parse('2026-03-01T00:00:00.000Z');

const msOf = (uuid: string): number => Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16);

describe('a sequence of UUIDs', () => {
  let uuids: UuidSequence;

  beforeEach(() => {
    uuids = new UuidSequence();
  });

  /** Returns as many UUIDs as there are times, made at these times, relative to `NOW_MS`. */
  const at = (...offsets: readonly number[]): readonly string[] =>
    offsets.map((ms) => uuids.next(NOW_MS + ms));

  it('consists of UUIDs of version 7 that begin with their time', () => {
    const [uuid] = at(0);
    expect(uuid).toMatch(/^019ca6b1-dc00-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(msOf(uuid ?? '')).toBe(NOW_MS);
  });

  it('is in order within a millisecond and while the clock is set back by up to 5 s', () => {
    const made = at(0, 0, 0, -1, -4_000, -5_000, -3_000, 0, 1, 1);
    expect([...made].sort()).toEqual(made);
    expect(made.map((uuid) => msOf(uuid) - NOW_MS)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1]);
  });

  it('takes the next millisecond if one has too many UUIDs', () => {
    const made = at(...Array.from({ length: 10_000 }, () => 0));
    expect([...made].sort()).toEqual(made);
    expect(new Set(made).size).toBe(10_000);
    expect(msOf(made.at(-1) ?? '') - NOW_MS).toBeGreaterThanOrEqual(2);
    expect(msOf(made.at(-1) ?? '') - NOW_MS).toBeLessThanOrEqual(4);
  });

  it.each([5_001, 3_600_000, 40 * 86_400_000])(
    'is at the right time again after a clock was %d ms ahead once',
    (aheadMs) => {
      const made = at(0, aheadMs, 0, 0, 1).map((uuid) => msOf(uuid) - NOW_MS);
      expect(made).toEqual([0, aheadMs, 0, 0, 1]);
    },
  );
});
