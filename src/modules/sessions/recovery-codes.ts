import { hash, randomBytes } from 'node:crypto';

const CODE_COUNT = 10;
/** Base 32 of Crockford: no letter looks like a digit. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** Number of characters of a code, each with five random bits. With 80 random bits, a fast hash is safe. */
const CODE_LENGTH = 16;

/** Returns new recovery codes, such as `3k7m-9xq2-w4tz-h8dv`. */
export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: CODE_COUNT }, () => {
    const text = [...randomBytes(CODE_LENGTH)].map((byte) => ALPHABET[byte & 31]).join('');
    return (text.match(/.{4}/g) ?? []).join('-');
  });
}

/**
 * Returns the SHA-256 under which a recovery code is stored. Ignores case, spaces and hyphens. Treats characters that
 * look alike as the same character.
 */
export function recoveryHashOf(code: string): string {
  const text = code
    .toLowerCase()
    .replaceAll(/[\s-]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1');
  return hash('sha256', text);
}
