import { graceEnd } from './grace';

const BOUNDARY = new Date('2026-04-01T00:00:00.000Z');
const CREDIT = { kind: 'credit', itemId: 'si_1', unusedFrom: BOUNDARY, end: 'border' } as const;
const at = (instant: string) => new Date(instant);

describe('the grace of an invoice', () => {
  it.each([
    ['renewal', BOUNDARY, 72, BOUNDARY, '2026-04-04T00:00:00.000Z'],
    ['end', BOUNDARY, 1, BOUNDARY, '2026-04-01T01:00:00.000Z'],
    // An invoice that is made late does not wait longer.
    ['renewal', BOUNDARY, 72, at('2026-04-03T12:00:00.000Z'), '2026-04-04T00:00:00.000Z'],
    ['renewal', BOUNDARY, 72, at('2026-04-04T00:00:00.000Z'), null],
    ['renewal', BOUNDARY, 72, at('2026-08-01T00:00:00.000Z'), null],
    ['renewal', BOUNDARY, 0, BOUNDARY, null],
    // Resumed or ended in the middle of a period: there is no boundary, and no usage that could be late.
    ['renewal', null, 72, BOUNDARY, null],
    ['end', null, 72, BOUNDARY, null],
    ['subscription_start', BOUNDARY, 72, BOUNDARY, null],
    ['change', BOUNDARY, 72, BOUNDARY, null],
    ['one_off', null, 72, BOUNDARY, null],
  ] as const)('of %s at %p with %d hours, made at %p, ends at %p', (...row) => {
    const [reason, renewsAt, hours, now, expected] = row;
    const end = graceEnd({ reason, renewsAt, lines: [CREDIT] }, hours, now);
    expect(end?.toISOString() ?? null).toBe(expected);
  });

  it('does not hold up an order without lines, which bills nothing but late usage', () => {
    expect(graceEnd({ reason: 'end', renewsAt: BOUNDARY, lines: [] }, 72, BOUNDARY)).toBeNull();
  });
});
