import { hash, randomBytes } from 'node:crypto';

const CODE_COUNT = 10;
/** Crockford's base 32 in lower case. It has no `i`, `l` and `o`, which look like digits, and no `u`. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/**
 * Characters of a code, without its hyphens. At 5 random bits each, a code has 80 bits and cannot be guessed, so a fast
 * hash is safe for storing it.
 */
const CODE_LENGTH = 16;

/** Returns new recovery codes, such as `3k7m-9xq2-w4tz-h8dv`. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: CODE_COUNT }, () => {
    const text = [...randomBytes(CODE_LENGTH)].map((byte) => ALPHABET[byte & 31]).join('');
    return (text.match(/.{4}/g) ?? []).join('-');
  });
}

/**
 * Returns the SHA-256 under which a recovery code is stored, in hex. Ignores case, spaces and hyphens. Reads `o` as 0,
 * and `i` and `l` as 1.
 */
export function recoveryHashOf(code: string): string {
  const text = code
    .toLowerCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1');
  return hash('sha256', text);
}
