import { monthsFrom, oldestKept } from './partition-months';

describe('the oldest kept month', () => {
  it.each([
    ['2026-03-31T23:59:59.999Z', 3, '2025_12'],
    ['2026-03-01T00:00:00.000Z', 24, '2024_03'],
    ['2026-12-15T00:00:00.000Z', 1_200, '1926_12'],
  ])('at %s with %i whole months is %s', (now, count, kept) => {
    expect(oldestKept(new Date(now), count)).toBe(kept);
  });
});

describe('months of partitions', () => {
  it('begin with the current one, and cross the year', () => {
    expect(monthsFrom(new Date('2026-11-30T23:59:59.999Z'), 2)).toEqual([
      { suffix: '2026_11', from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' },
      { suffix: '2026_12', from: '2026-12-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' },
    ]);
  });
});
