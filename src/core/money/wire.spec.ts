import { isWireSafe, WIRE_MAX } from './wire';

describe('amounts on the wire stay within what every JSON reader holds exactly', () => {
  test('the limit is the largest safe integer', () => {
    expect(WIRE_MAX).toBe(BigInt(Number.MAX_SAFE_INTEGER));
  });

  test.each([
    [0n, true],
    [WIRE_MAX, true],
    [-WIRE_MAX, true],
    [WIRE_MAX + 1n, false],
    [-WIRE_MAX - 1n, false],
  ])('%d: %s', (amountMinor, safe) => {
    expect(isWireSafe(amountMinor)).toBe(safe);
  });
});
