import { faultOfChosenSecret } from './chosen-secret';
import { hashOf, isSecret, newSecret } from './secret';

describe('a secret', () => {
  it('has its prefix, 43 random digits and a checksum of 6', () => {
    expect(newSecret('sk_live_')).toMatch(/^sk_live_[0-9A-Za-z]{49}$/);
    expect(newSecret('ct_test2_')).toMatch(/^ct_test2_[0-9A-Za-z]{49}$/);
  });

  it('is recognised, and each is different', () => {
    const secrets = Array.from({ length: 500 }, () => newSecret('sk_live_'));
    expect(secrets.filter((secret) => !isSecret(secret))).toEqual([]);
    expect(new Set(secrets).size).toBe(500);
  });

  it('is not recognised with any one character changed, left out or added', () => {
    const secret = newSecret('sk_live_');
    const changed = Array.from(secret, (character, index) => {
      const other = character === 'a' ? 'b' : 'a';
      return secret.slice(0, index) + other + secret.slice(index + 1);
    });
    const cut = Array.from(secret, (_, index) => secret.slice(0, index) + secret.slice(index + 1));
    const mistyped = [...changed, ...cut, `${secret}0`, ` ${secret}`, secret.toLowerCase(), ''];
    expect(mistyped.filter((text) => text !== secret && isSecret(text))).toEqual([]);
  });

  it('is stored as its SHA-256', () => {
    expect(hashOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});

describe('a secret that an operator chose', () => {
  it.each([
    ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', null],
    ['n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=', null],
    ['9f86d081884c7d659a2feaa0c55ad015', /weaker than 32 random bytes/],
    ['changeme', /weaker/],
    ['a'.repeat(100), /weaker/],
    ['correct horse battery staple correct horse battery', /may contain/],
    ['', /may contain/],
    ['x1Y'.repeat(100), /longer/],
    ['sk_live_tooshort', /checksum/],
  ])('%j: %s', (text, fault) => {
    if (fault === null) expect(faultOfChosenSecret(text)).toBeNull();
    else expect(faultOfChosenSecret(text)).toMatch(fault);
  });

  it('may be one that was generated', () => {
    expect(faultOfChosenSecret(newSecret('sk_live_'))).toBeNull();
  });
});
