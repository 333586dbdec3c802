import { methodToCharge, nextAttemptAt } from './attempt';

const NOW = new Date('2026-03-01T00:00:00.000Z');

describe('automatic attempts', () => {
  it.each([
    [0, '2026-03-01T00:00:00.000Z'],
    [1, '2026-03-02T00:00:00.000Z'],
    [2, '2026-03-04T00:00:00.000Z'],
    [3, '2026-03-06T00:00:00.000Z'],
    [4, '2026-03-08T00:00:00.000Z'],
  ])('after %i the next one is due at %s', (attempts, at) => {
    expect(nextAttemptAt(attempts, [1, 3, 5, 7], NOW, null)).toEqual(new Date(at));
  });

  it('are used up after the last pause, or after the first without any', () => {
    expect(nextAttemptAt(5, [1, 3, 5, 7], NOW, null)).toBeNull();
    expect(nextAttemptAt(1, [], NOW, null)).toBeNull();
  });

  it('stop before the end of the time for them, not at it', () => {
    const end = new Date('2026-03-02T00:00:00.000Z');
    expect(nextAttemptAt(1, [1], NOW, end)).toBeNull();
    expect(nextAttemptAt(1, [1], NOW, new Date(end.getTime() + 1))).toEqual(end);
    expect(nextAttemptAt(0, [1], end, end)).toBeNull();
  });

  it.each([
    ['the method', { method: 'pm', payableMinor: 1n, isNotChargedAutomatically: false }, 'pm'],
    [
      'nothing without one',
      { method: null, payableMinor: 1n, isNotChargedAutomatically: false },
      null,
    ],
    ['nothing twice', { method: 'pm', payableMinor: 0n, isNotChargedAutomatically: false }, null],
    [
      'nothing when its subscription is not charged automatically',
      { method: 'pm', payableMinor: 1n, isNotChargedAutomatically: true },
      null,
    ],
  ])('charge %s', (_, context, charged) => {
    expect(methodToCharge(context)).toBe(charged);
  });
});
