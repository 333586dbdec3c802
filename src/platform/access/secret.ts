import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
/** Number of base 62 digits that 32 bytes need. */
const RANDOM_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
const SECRET_PATTERN = /^(?:sk|ct|ss)_[a-z0-9]{1,16}_[0-9A-Za-z]{49}$/;

/**
 * Returns a new secret: the prefix, then 32 random bytes and a checksum in base 62. The checksum lets secret scanners
 * recognise the secret, and lets the service refuse a mistyped secret without a database query.
 * @param prefix with its final underscore, such as `sk_live_`
 */
export function newSecret(prefix: string): string {
  const text =
    prefix + toBase62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`), RANDOM_DIGITS);
  return text + checksumOf(text);
}

export function isSecret(text: string): boolean {
  return (
    SECRET_PATTERN.test(text) &&
    checksumOf(text.slice(0, -CHECKSUM_DIGITS)) === text.slice(-CHECKSUM_DIGITS)
  );
}

/** Returns the SHA-256 under which a secret is stored. Secrets have 256 random bits, so they need no slower hash. */
export function hashOf(secret: string): string {
  return hash('sha256', secret);
}

function checksumOf(text: string): string {
  return toBase62(BigInt(crc32(text)), CHECKSUM_DIGITS);
}

function toBase62(value: bigint, digits: number): string {
  let rest = value;
  let text = '';
  while (text.length < digits) {
    text = (ALPHABET[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}
