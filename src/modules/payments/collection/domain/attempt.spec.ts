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
    expect(nextAttemptAt(attempts, [1, 3, 5, 7], NOW)).toEqual(new Date(at));
  });

  it('are used up after the last pause, or after the first without any', () => {
    expect(nextAttemptAt(5, [1, 3, 5, 7], NOW)).toBeNull();
    expect(nextAttemptAt(1, [], NOW)).toBeNull();
  });

  it.each([
    ['the method', { method: 'pm', payableMinor: 1n, isSubscriptionUnpaid: false }, 'pm'],
    ['nothing without one', { method: null, payableMinor: 1n, isSubscriptionUnpaid: false }, null],
    ['nothing twice', { method: 'pm', payableMinor: 0n, isSubscriptionUnpaid: false }, null],
    ['nothing when unpaid', { method: 'pm', payableMinor: 1n, isSubscriptionUnpaid: true }, null],
  ])('charge %s', (_, facts, charged) => {
    expect(methodToCharge(facts)).toBe(charged);
  });
});
