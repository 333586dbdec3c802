import { monthOf } from './archived-month';

describe('the archived month that starts at an instant', () => {
  it.each([
    ['2026-02-01', '2026-03-01'],
    ['2026-12-01', '2027-01-01'],
    ['1999-12-01', '2000-01-01'],
    ['0099-12-01', '0100-01-01'],
    ['0001-01-01', '0001-02-01'],
  ])('of %s ends at %s', (start, end) => {
    const startAt = new Date(`${start}T00:00:00Z`);
    expect(monthOf(startAt)).toEqual({ startAt, endAt: new Date(`${end}T00:00:00Z`) });
    expect(startAt).toEqual(new Date(`${start}T00:00:00Z`));
  });
});
