export const PASSWORD_SCHEMES = [
  'argon2id',
  'bcrypt',
  'scrypt',
  'pbkdf2-sha256',
  'none',
  'unrecognised',
] as const;
export type PasswordScheme = (typeof PASSWORD_SCHEMES)[number];

/** Stored in place of a password hash if the admin has no password and signs in with OpenID Connect. */
export const NO_PASSWORD = '*';

interface HashFormat {
  readonly scheme: Exclude<PasswordScheme, 'none' | 'unrecognised'>;
  /**
   * Regular expression for a whole password hash. Named groups `salt` and `hash`, if there are any, are base64 without
   * padding. Other named groups are numbers of at least 1.
   */
  readonly pattern: RegExp;
  /** Minimum bytes of the decoded salt and hash, as the algorithm or the library that defines the format requires. */
  readonly minBytes: { readonly salt: number; readonly hash: number };
}

const NUMBER = '[1-9]\\d{0,9}';
/** Base64 of RFC 4648, as in the PHC string format. */
const B64 = '[A-Za-z0-9+/]+';
/** Base64 with `.` in place of `+`, as in the PBKDF2 hashes of passlib. */
const AB64 = '[A-Za-z0-9./]+';

const PHC_LEAST = { salt: 8, hash: 16 } as const;

const HASH_FORMATS: readonly HashFormat[] = [
  {
    scheme: 'argon2id',
    pattern: RegExp(
      `^\\$argon2id\\$v=19\\$m=(?<m>${NUMBER}),t=(?<t>${NUMBER}),p=(?<p>${NUMBER})\\$(?<salt>${B64})\\$(?<hash>${B64})$`,
    ),
    minBytes: PHC_LEAST,
  },
  {
    // Cost 4 to 31; 22 characters of salt and 31 of hash in the alphabet of bcrypt.
    scheme: 'bcrypt',
    pattern: /^\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/,
    minBytes: { salt: 0, hash: 0 },
  },
  {
    scheme: 'scrypt',
    pattern: RegExp(
      `^\\$scrypt\\$ln=(?<ln>${NUMBER}),r=(?<r>${NUMBER}),p=(?<p>${NUMBER})\\$(?<salt>${B64})\\$(?<hash>${B64})$`,
    ),
    minBytes: PHC_LEAST,
  },
  {
    // Format of passlib: rounds without a parameter name, and always all 32 bytes of SHA-256.
    scheme: 'pbkdf2-sha256',
    pattern: RegExp(
      `^\\$pbkdf2-sha256\\$(?<rounds>${NUMBER})\\$(?<salt>${AB64})\\$(?<hash>[A-Za-z0-9./]{43})$`,
    ),
    minBytes: { salt: 8, hash: 32 },
  },
  {
    scheme: 'pbkdf2-sha256',
    pattern: RegExp(
      `^\\$pbkdf2-sha256\\$i=(?<i>${NUMBER})(,l=(?<l>${NUMBER}))?\\$(?<salt>${B64})\\$(?<hash>${B64})$`,
    ),
    minBytes: PHC_LEAST,
  },
];

/** Maximum of scrypt's `ln`, the base-2 logarithm of its cost. A larger one needs more memory than machines have. */
const LARGEST_LN = 31;
const LARGEST_32_BIT = 4_294_967_295;

/** A password hash of a recognised form, with its cost parameters. */
export type PasswordHash =
  | { readonly scheme: 'argon2id'; readonly memoryKib: number; readonly passes: number }
  | { readonly scheme: 'bcrypt'; readonly costLog2: number }
  | {
      readonly scheme: 'scrypt';
      readonly costLog2: number;
      readonly blockSize: number;
      readonly parallelization: number;
      readonly salt: Uint8Array;
      readonly hash: Uint8Array;
    }
  | {
      readonly scheme: 'pbkdf2-sha256';
      readonly rounds: number;
      readonly salt: Uint8Array;
      readonly hash: Uint8Array;
    };

/**
 * Returns the scheme of a password hash. Recognises the scheme by the form: PHC string format (argon2id, scrypt,
 * PBKDF2), modular crypt format (bcrypt), and the format of passlib (PBKDF2). Does not check the cost. Returns `none`
 * for {@link NO_PASSWORD}. Returns `unrecognised` for any other text: no password can be checked against it, so the
 * admin cannot sign in with a password.
 */
export function passwordSchemeOf(passwordHash: string): PasswordScheme {
  if (passwordHash === NO_PASSWORD) return 'none';
  return partsOf(passwordHash)?.scheme ?? 'unrecognised';
}

/** Returns the parts of a password hash, or null if its form is not recognised. */
export function parsePasswordHash(passwordHash: string): PasswordHash | null {
  const parts = partsOf(passwordHash);
  if (parts === null) return null;
  const { scheme, groups } = parts;
  const number = (name: string): number => Number(groups[name]);
  const stored = { salt: decoded(groups['salt'] ?? ''), hash: decoded(groups['hash'] ?? '') };
  switch (scheme) {
    case 'argon2id':
      return { scheme, memoryKib: number('m'), passes: number('t') };
    case 'bcrypt':
      return { scheme, costLog2: Number(passwordHash.slice(4, 6)) };
    case 'scrypt':
      return {
        scheme,
        costLog2: number('ln'),
        blockSize: number('r'),
        parallelization: number('p'),
        ...stored,
      };
    case 'pbkdf2-sha256':
      return { scheme, rounds: Number(groups['rounds'] ?? groups['i']), ...stored };
  }
}

interface HashParts {
  readonly scheme: Exclude<PasswordScheme, 'none' | 'unrecognised'>;
  readonly groups: Readonly<Record<string, string | undefined>>;
}

function partsOf(passwordHash: string): HashParts | null {
  for (const { scheme, pattern, minBytes } of HASH_FORMATS) {
    const match = pattern.exec(passwordHash);
    if (match === null) continue;
    const { groups = {} } = match;
    if (fits(groups, minBytes)) return { scheme, groups };
  }
  return null;
}

function fits(groups: HashParts['groups'], minBytes: HashFormat['minBytes']): boolean {
  const { salt, hash, ln, m, p, l, ...others } = groups;
  if (salt === undefined || hash === undefined) return true;
  const hashBytes = bytesOf(hash);
  return (
    bytesOf(salt) >= minBytes.salt &&
    hashBytes >= minBytes.hash &&
    [ln, m, p, l, ...Object.values(others)].every((text) => Number(text ?? 1) <= LARGEST_32_BIT) &&
    // RFC 7914: N is less than 2^(16 r).
    (ln === undefined || Number(ln) < Math.min(LARGEST_LN + 1, 16 * Number(others['r']))) &&
    // RFC 9106: at least 8 KiB of memory per degree of parallelism.
    (m === undefined || Number(m) >= 8 * Number(p)) &&
    (l === undefined || Number(l) === hashBytes)
  );
}

/** Returns the number of bytes that base64 without padding decodes to; 0 if base64 cannot have this length. */
function bytesOf(base64: string): number {
  return base64.length % 4 === 1 ? 0 : Math.floor((base64.length * 3) / 4);
}

/** Decodes base64 in the alphabet of RFC 4648 or in the alphabet of passlib, which has `.` in place of `+`. */
function decoded(base64: string): Uint8Array {
  const bytes = atob(base64.replaceAll('.', '+'));
  return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
}
