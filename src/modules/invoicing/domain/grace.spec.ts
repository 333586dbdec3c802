import { graceEnd } from './grace';

const BORDER = new Date('2026-04-01T00:00:00.000Z');
const CREDIT = { kind: 'credit', itemId: 'si_1', unusedFrom: BORDER, end: 'border' } as const;
const at = (instant: string) => new Date(instant);

describe('the grace of an invoice', () => {
  it.each([
    ['renewal', BORDER, 72, BORDER, '2026-04-04T00:00:00.000Z'],
    ['end', BORDER, 1, BORDER, '2026-04-01T01:00:00.000Z'],
    // Made late, it waits no longer.
    ['renewal', BORDER, 72, at('2026-04-03T12:00:00.000Z'), '2026-04-04T00:00:00.000Z'],
    ['renewal', BORDER, 72, at('2026-04-04T00:00:00.000Z'), null],
    ['renewal', BORDER, 72, at('2026-08-01T00:00:00.000Z'), null],
    ['renewal', BORDER, 0, BORDER, null],
    // Resumed or ended in the middle of a period: no border, no usage that could be late.
    ['renewal', null, 72, BORDER, null],
    ['end', null, 72, BORDER, null],
    ['subscription_start', BORDER, 72, BORDER, null],
    ['change', BORDER, 72, BORDER, null],
    ['one_off', null, 72, BORDER, null],
  ] as const)('of %s at %p with %d hours, made at %p, ends at %p', (...row) => {
    const [reason, renewsAt, hours, now, expected] = row;
    const end = graceEnd({ reason, renewsAt, lines: [CREDIT] }, hours, now);
    expect(end?.toISOString() ?? null).toBe(expected);
  });

  it('does not hold up an order without lines, which bills nothing but late usage', () => {
    expect(graceEnd({ reason: 'end', renewsAt: BORDER, lines: [] }, 72, BORDER)).toBeNull();
  });
});
