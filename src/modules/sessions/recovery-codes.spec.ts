import { newRecoveryCodes, recoveryHashOf } from './recovery-codes';

describe('recovery codes', () => {
  it('are ten different ones of 80 bits', () => {
    const codes = newRecoveryCodes();
    expect(new Set([...codes, ...newRecoveryCodes()]).size).toBe(20);
    for (const code of codes) {
      expect(code).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
    }
  });

  it('are the same however they are typed', () => {
    const expected = recoveryHashOf('3k7m-9xq2-w40z-11dv');
    for (const typed of ['3K7M9XQ2W40Z11DV', ' 3k7m 9xq2 w4oz lIdv ', '3k7m-9xq2-W4OZ-iLdv']) {
      expect(recoveryHashOf(typed)).toBe(expected);
    }
    expect(recoveryHashOf('3k7m-9xq2-w40z-11dw')).not.toBe(expected);
  });
});
