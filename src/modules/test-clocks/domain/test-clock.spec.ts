import { advanceRefusal, type TestClock } from './test-clock';

const REAL_NOW = new Date('2026-03-01T00:00:00Z');
const TO = new Date('2031-02-01T00:00:00Z');

const clock: TestClock = {
  id: 'clock_1',
  version: 1,
  name: 'A year',
  instant: new Date('2031-01-01T00:00:00Z'),
  status: 'ready',
  targetAt: null,
  leaseEndsAt: null,
  leasedBy: null,
  createdAt: REAL_NOW,
  updatedAt: REAL_NOW,
};
const advancing = { ...clock, status: 'advancing', targetAt: TO } as const;

describe('a test clock', () => {
  it.each([
    ['forwards', clock, TO, null],
    ['nowhere', clock, clock.instant, null],
    ['backwards', clock, new Date(clock.instant.getTime() - 1), 'backwards'],
    ['by eleven years', clock, new Date('2042-01-01T00:00:00Z'), 'too_far'],
    ['while it moves', { ...advancing, leaseEndsAt: new Date(REAL_NOW.getTime() + 1) }, TO, 'busy'],
    ['on, after a crash', { ...advancing, leaseEndsAt: REAL_NOW }, TO, null],
    [
      'elsewhere, after a crash',
      { ...advancing, leaseEndsAt: REAL_NOW },
      new Date('2031-03-01T00:00:00Z'),
      'other_target',
    ],
    ['after it failed', { ...clock, status: 'failed' }, TO, 'failed'],
  ] as const)('is moved %s: %#', (_, from, to, refusal) => {
    expect(advanceRefusal(from, to, REAL_NOW)).toBe(refusal);
  });
});
