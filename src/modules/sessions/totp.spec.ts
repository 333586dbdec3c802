import { newTotpSecret, otpauthUri, stepOfCode } from './totp';

/** Secret of the test vectors of RFC 6238: "12345678901234567890" in base 32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('time-based one-time passwords', () => {
  it.each([
    // The last six of the eight digits in RFC 6238, appendix B.
    [59, '287082', 1],
    [1_111_111_109, '081804', 37_037_036],
    [1_111_111_111, '050471', 37_037_037],
    [1_234_567_890, '005924', 41_152_263],
    [2_000_000_000, '279037', 66_666_666],
    [20_000_000_000, '353130', 666_666_666],
  ])('at %d s are those of RFC 6238', (seconds, code, step) => {
    expect(stepOfCode(SECRET, code, new Date(seconds * 1_000))).toBe(step);
  });

  it.each([
    ['29 s early', 30, 1],
    ['at the end of its step', 59.999, 1],
    ['in the next step', 89.999, 1],
    ['two steps later', 90, null],
    ['in the step before', 0, 1],
  ])('are accepted %s', (_, seconds, step) => {
    expect(stepOfCode(SECRET, '287082', new Date(seconds * 1_000))).toBe(step);
  });

  it.each(['', '28708', '2870820', '28708x', '２８７０８２'])('%j is no code', (code) => {
    expect(stepOfCode(SECRET, code, new Date(59_000))).toBeNull();
  });

  it('have secrets of 160 bits, and a URI for authenticator apps', () => {
    const secret = newTotpSecret();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(newTotpSecret()).not.toBe(secret);
    const uri = new URL(otpauthUri(secret, 'ada@example.com', 'Billing engine'));
    expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).toEqual([
      'otpauth:',
      'totp',
      '/Billing engine:ada@example.com',
    ]);
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      secret,
      issuer: 'Billing engine',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
  });
});
