import fc from 'fast-check';
import { JITTER, nextAttemptAt, parseRetryAfter, PAUSES_MS } from './retry-schedule';

const NOW = new Date('2026-03-01T00:00:00.000Z');
const afterMs = (attempts: number, chance: number, retryAfterMs: number | null = null) => {
  const at = nextAttemptAt(attempts, NOW, chance, retryAfterMs);
  return at === null ? null : at.getTime() - NOW.getTime();
};

describe('the retry schedule', () => {
  it('tries after 0, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h', () => {
    expect(PAUSES_MS.map((pause) => pause / 1_000)).toEqual([
      0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]);
    for (const [attempts, pause] of PAUSES_MS.entries()) {
      if (attempts > 0) expect(afterMs(attempts, 0.5)).toBe(pause);
    }
  });

  it('gives up after ten attempts', () => {
    expect(afterMs(9, 0.5)).not.toBeNull();
    expect(afterMs(10, 0.5)).toBeNull();
  });

  it('stays within 20 % of each pause', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempts, chance) => {
          const pause = PAUSES_MS[attempts] ?? 0;
          const after = afterMs(attempts, chance) ?? -1;
          return after >= pause * (1 - JITTER) - 1 && after <= pause * (1 + JITTER);
        },
      ),
    );
  });

  it.each([
    ['is shorter than the pause', 60_000, 300_000],
    ['lies between one and two times the pause', 400_000, 400_000],
    ['is longer than two times the pause', 86_400_000, 600_000],
  ])('when Retry-After %s', (_, asked, expected) => {
    expect(afterMs(2, 0.5, asked)).toBe(expected);
  });

  it.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Sun, 01 Mar 2026 00:01:00 GMT', 60_000],
    ['Sat, 28 Feb 2026 00:00:00 GMT', null],
    ['soon', null],
    ['-5', null],
    ['1.5', null],
    ['99999999999', null],
    ['', null],
    [null, null],
  ])('reads Retry-After %j as %s ms', (header, expected) => {
    expect(parseRetryAfter(header, NOW)).toBe(expected);
  });
});
