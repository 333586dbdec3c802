import { PASSWORD_SCHEMES, passwordSchemeOf } from './password-hash';

const SALT = 'c29tZXNhbHQ';
const HASH = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8';
/** Examples from the documentation of the libraries. */
const ARGON2ID =
  '$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHRzb21l$RdescudvJCsgt3ub+b+dWRWJTmaaJObGE2/+rK0NBwI';
const BCRYPT = '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW';
const SCRYPT = `$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E`;
const PASSLIB =
  '$pbkdf2-sha256$29000$N2YMIWQsBWBMae09x1jrPQ$1t8iyB2A.WF/Z5JZv.lfCIhXXN33N23OSgQYThBYRfk';
const PBKDF2 = `$pbkdf2-sha256$i=600000$${SALT}$${HASH}`;

describe('the scheme of a password hash', () => {
  it.each([
    ['argon2id', ARGON2ID],
    ['argon2id', `$argon2id$v=19$m=32,t=1,p=4$${SALT}$${HASH}`],
    ['bcrypt', BCRYPT],
    ['bcrypt', BCRYPT.replace('$2b$12', '$2a$04')],
    ['bcrypt', BCRYPT.replace('$2b$12', '$2y$31')],
    ['scrypt', SCRYPT],
    ['pbkdf2-sha256', PASSLIB],
    ['pbkdf2-sha256', PBKDF2],
    ['pbkdf2-sha256', PBKDF2.replace('i=600000', 'i=600000,l=32')],
  ] as const)('is %s: %s', (scheme, hash) => {
    expect(passwordSchemeOf(hash)).toBe(scheme);
  });

  it.each([
    ['nothing', ''],
    ['a password in clear', 'correct horse battery staple'],
    ['a bare SHA-256', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    ['argon2i', ARGON2ID.replace('argon2id', 'argon2i')],
    ['argon2id without a version', ARGON2ID.replace('v=19$', '')],
    ['argon2id of the first version', ARGON2ID.replace('v=19', 'v=16')],
    ['argon2id with parameters in another order', ARGON2ID.replace('m=65536,t=3', 't=3,m=65536')],
    ['argon2id with no passes', ARGON2ID.replace('t=3', 't=0')],
    ['argon2id with less memory than its parallelism needs', ARGON2ID.replace('m=65536', 'm=31')],
    ['argon2id with a parameter beyond 32 bits', ARGON2ID.replace('t=3', 't=4294967296')],
    ['argon2id with a short salt', `$argon2id$v=19$m=32,t=1,p=4$c29tZXNh$${HASH}`],
    ['argon2id without a hash', ARGON2ID.slice(0, ARGON2ID.lastIndexOf('$'))],
    ['argon2id with a short hash', `$argon2id$v=19$m=32,t=1,p=4$${SALT}$AAECAwQFBgcICQoLDA0O`],
    ['argon2id with padding', `$argon2id$v=19$m=32,t=1,p=4$${SALT}=$${HASH}`],
    ['argon2id of a length that is not base64', `$argon2id$v=19$m=32,t=1,p=4$${SALT}$${HASH}AA`],
    ['argon2id with a space', ` ${ARGON2ID}`],
    ['argon2id with a line break', `${ARGON2ID}\n`],
    ['bcrypt of an unknown variant', BCRYPT.replace('$2b', '$2x')],
    ['bcrypt of too low a cost', BCRYPT.replace('$12', '$03')],
    ['bcrypt of too high a cost', BCRYPT.replace('$12', '$32')],
    ['bcrypt with a cost of one digit', BCRYPT.replace('$12', '$5')],
    ['bcrypt a character short', BCRYPT.slice(0, -1)],
    ['bcrypt a character long', `${BCRYPT}a`],
    ['bcrypt with a letter outside its alphabet', BCRYPT.replace('R9h', 'R+h')],
    ['scrypt with no cost', SCRYPT.replace('ln=16', 'ln=0')],
    ['scrypt with a cost that its block size does not allow', SCRYPT.replace('r=8', 'r=1')],
    ['scrypt with a cost beyond all memory', SCRYPT.replace('ln=16', 'ln=32')],
    ['scrypt in another form', '$7$C6..../....SodiumChloride$kBGj9fHznVYFQMEn'],
    ['PBKDF2 with SHA-512', PASSLIB.replace('sha256', 'sha512')],
    ['PBKDF2 with no rounds', PASSLIB.replace('29000', '0')],
    ['PBKDF2 of passlib in the other alphabet', PASSLIB.replace('2A.WF', '2A+WF')],
    ['PBKDF2 with another length than it says', PBKDF2.replace('i=600000', 'i=600000,l=64')],
  ])('is unrecognised: %s', (_, hash) => {
    expect(passwordSchemeOf(hash)).toBe('unrecognised');
  });

  it('is found without backtracking in the longest text that is stored', () => {
    for (const start of ['$argon2id$v=19$m=1,t=1,p=1$', '$pbkdf2-sha256$1$', '$2b$12$', '$']) {
      expect(PASSWORD_SCHEMES).toContain(passwordSchemeOf(start + 'A'.repeat(512 - start.length)));
    }
  });
});
