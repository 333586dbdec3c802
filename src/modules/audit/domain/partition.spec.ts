import { monthsFrom } from './partition';

describe('months of partitions', () => {
  it('begin with the current one, and cross the year', () => {
    expect(monthsFrom(new Date('2026-11-30T23:59:59.999Z'), 2)).toEqual([
      { suffix: '2026_11', from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' },
      { suffix: '2026_12', from: '2026-12-01T00:00:00.000Z', to: '2027-01-01T00:00:00.000Z' },
    ]);
  });
});
