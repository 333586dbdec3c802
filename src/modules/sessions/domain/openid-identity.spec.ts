import { identityOf, joinClaims, type OpenIdPolicy } from './openid-identity';

const CLAIMS = {
  sub: 'u1',
  email: 'Ada@Example.com',
  email_verified: true,
  name: ' Ada Lovelace ',
  groups: ['staff', 'billing-support', 'billing-admins'],
};

const POLICY: OpenIdPolicy = {
  allowedDomains: ['example.com', 'example.org'],
  roleClaim: 'groups',
  roles: new Map([
    ['billing-support', 'support'],
    ['billing-admins', 'admin'],
    ['owner', 'owner'],
  ]),
};

describe('the identity of an OpenID provider', () => {
  it('has email, name, and the role with the most rights', () => {
    expect(identityOf(CLAIMS, POLICY)).toEqual({
      email: 'Ada@Example.com',
      name: 'Ada Lovelace',
      role: 'admin',
    });
  });

  it.each([
    [{ name: undefined }, { name: 'Ada@Example.com' }],
    [{ name: 7 }, { name: 'Ada@Example.com' }],
    [{ name: 'x'.repeat(300) }, { name: 'x'.repeat(200) }],
    [{ name: `${'x'.repeat(199)}😀y` }, { name: `${'x'.repeat(199)}😀` }],
    [{ name: 'Ada\u0000\n Love\ud83d' }, { name: 'Ada Love\ufffd' }],
    [{ name: '\u0000' }, { name: 'Ada@Example.com' }],
    [{ email: 'ada@EXAMPLE.ORG' }, { email: 'ada@EXAMPLE.ORG' }],
    [{ groups: 'owner' }, { role: 'owner' }],
  ])('of %j has %j', (claims, expected) => {
    expect(identityOf({ ...CLAIMS, ...claims }, POLICY)).toMatchObject(expected);
  });

  it.each([
    [{ email: undefined }, 'no_email'],
    [{ email: 'ada' }, 'no_email'],
    [{ email: 'a@b@example.com' }, 'no_email'],
    [{ email: 'a b@example.com' }, 'no_email'],
    [{ email: `${'x'.repeat(250)}@example.com` }, 'no_email'],
    [{ email: ['ada@example.com'] }, 'no_email'],
    [{ email: 'a\u0000da@example.com' }, 'no_email'],
    [{ email: 'ada\ud83d@example.com' }, 'no_email'],
    // KELVIN SIGN, which is `k` without regard to case.
    [{ email: '\u212aim@example.com' }, 'no_email'],
    [{ email: 'ada@\u212aiwi.example' }, 'no_email'],
    [{ email_verified: false }, 'email_not_verified'],
    [{ email_verified: undefined }, 'email_not_verified'],
    [{ email_verified: 'false' }, 'email_not_verified'],
    [{ email: 'ada@example.net' }, 'foreign_domain'],
    [{ email: 'ada@sub.example.com' }, 'foreign_domain'],
    [{ email: 'ada@notexample.com' }, 'foreign_domain'],
    [{ groups: [] }, 'no_role'],
    [{ groups: undefined }, 'no_role'],
    [{ groups: ['Owner', 7, null] }, 'no_role'],
    [{ groups: { owner: true } }, 'no_role'],
  ])('of %j is refused: %s', (claims, fault) => {
    expect(identityOf({ ...CLAIMS, ...claims }, POLICY)).toBe(fault);
  });

  it('has no email with a character that becomes an ASCII character in a comparison', () => {
    const others = Array.from({ length: 0x11_0000 - 0x80 }, (_, index) =>
      String.fromCodePoint(index + 0x80),
    );
    const alike = others.filter((one) => /^[\0-\x7f]+$/.test(one.normalize('NFC').toLowerCase()));
    expect(alike).toContain('\u212a');
    for (const one of alike) {
      expect(identityOf({ ...CLAIMS, email: `a${one}da@example.com` }, POLICY)).toBe('no_email');
    }
  });

  it('has no role where the provider does not decide it', () => {
    const policy = { ...POLICY, roleClaim: null };
    expect(identityOf(CLAIMS, policy)).toMatchObject({ role: null });
  });
});

describe('the claims of the ID token and of the user information', () => {
  const email = 'ada@example.com';

  it.each([
    ['one document', { email, email_verified: true }, {}, true],
    ['the other document', {}, { email, email_verified: true }, true],
    ['both, with the same email', { email }, { email, email_verified: true }, true],
    [
      'both, and the ID token denies it',
      { email, email_verified: false },
      { email, email_verified: true },
      false,
    ],
    ['two emails', { email }, { email: 'eve@example.com', email_verified: true }, undefined],
    ['an email without verification', { email_verified: true }, { email }, undefined],
  ])('verify an email in %s', (_, idToken, userInfo, isVerified) => {
    expect(joinClaims(idToken, userInfo)).toEqual({ email, email_verified: isVerified });
  });

  it('are taken from the ID token first', () => {
    const joined = joinClaims({ sub: 'u1', name: 'Ada' }, { name: 'Eve', groups: ['staff'] });
    expect(joined).toMatchObject({ sub: 'u1', name: 'Ada', groups: ['staff'] });
  });
});
