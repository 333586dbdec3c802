import { isAffordable } from './password-cost';
import { parsePasswordHash } from './password-hash';

const SALT = 'c29tZXNhbHQ';
const HASH = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
const BCRYPT = 'R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW';

function affordable(text: string): boolean | null {
  const hash = parsePasswordHash(text);
  return hash === null ? null : isAffordable(hash);
}

describe('the cost of a password hash', () => {
  it.each([
    ['OWASP', 'm=19456,t=2,p=1'],
    ['the second choice of RFC 9106', 'm=65536,t=3,p=4'],
    ['OWASP with more memory', 'm=47104,t=1,p=1'],
    ['the most memory', 'm=131072,t=4,p=1'],
  ])('is paid for argon2id by %s', (_, parameters) => {
    expect(affordable(`$argon2id$v=19$${parameters}$${SALT}$${HASH}`)).toBe(true);
  });

  it.each([
    ['1 GiB', 'm=1048576,t=1,p=1'],
    ['the most memory there is', 'm=4294967295,t=1,p=1'],
    ['a million passes', 'm=8,t=1000000,p=1'],
    ['5 passes over the most memory', 'm=131072,t=5,p=1'],
  ])('is not paid for argon2id with %s', (_, parameters) => {
    expect(affordable(`$argon2id$v=19$${parameters}$${SALT}$${HASH}`)).toBe(false);
  });

  it.each([
    ['04', true],
    ['12', true],
    ['14', true],
    ['15', false],
    ['31', false],
  ])('is paid for bcrypt of cost %s: %s', (cost, expected) => {
    expect(affordable(`$2b$${cost}$${BCRYPT}`)).toBe(expected);
  });

  it.each([
    ['ln=17,r=8,p=1', true],
    ['ln=16,r=8,p=2', true],
    ['ln=15,r=8,p=8', true],
    ['ln=18,r=8,p=1', false],
    ['ln=15,r=8,p=16', false],
    ['ln=1,r=4294967295,p=1', false],
    ['ln=1,r=1,p=4294967295', false],
    ['ln=1,r=8192,p=1', true],
    ['ln=1,r=1,p=8192', true],
    ['ln=1,r=1,p=8193', false],
  ])('is paid for scrypt with %s: %s', (parameters, expected) => {
    expect(affordable(`$scrypt$${parameters}$${SALT}$${HASH}`)).toBe(expected);
  });

  it.each([
    [`$pbkdf2-sha256$29000$${SALT}$${HASH}`, true],
    [`$pbkdf2-sha256$i=600000$${SALT}$${HASH}`, true],
    [`$pbkdf2-sha256$i=2000000$${SALT}$${HASH}`, true],
    [`$pbkdf2-sha256$i=2000001$${SALT}$${HASH}`, false],
    [`$pbkdf2-sha256$i=1000000$${SALT}$${'A'.repeat(400)}`, false],
  ])('is paid for PBKDF2: %s: %s', (text, expected) => {
    expect(affordable(text)).toBe(expected);
  });
});
