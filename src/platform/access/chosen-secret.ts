import { isSecret } from './secret';

const MIN_BITS = 256;
const MIN_DISTINCT_CHARACTERS = 10;
const MAX_LENGTH = 200;

/** Character sets of common encodings of random bytes, with the number of bits that one character carries. */
const ENCODINGS = [
  { form: /^\d+$/, bits: Math.log2(10) },
  { form: /^[0-9a-f]+$/i, bits: 4 },
  { form: /^[0-9a-z]+$/, bits: Math.log2(36) },
  { form: /^[0-9A-Z]+$/, bits: Math.log2(36) },
  { form: /^[\w~.+/=-]+$/, bits: 6 },
] as const;

/**
 * Returns the reason why a secret that an operator chose is refused; null if it is accepted. Accepts secrets that this
 * service made, and texts that are long and varied enough to encode 32 random bytes.
 */
export function faultOfChosenSecret(text: string): string | null {
  if (/^(?:sk|ct)_/.test(text)) {
    return isSecret(text) ? null : 'has a wrong checksum; it may be cut off or mistyped';
  }
  const encoding = ENCODINGS.find(({ form }) => form.test(text));
  if (encoding === undefined) return 'may contain letters, digits and - _ . ~ + / = only';
  if (text.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  // Padding of base64 carries no bits.
  const length = text.replace(/=+$/, '').length;
  if (
    Math.ceil(length * encoding.bits) < MIN_BITS ||
    new Set(text).size < MIN_DISTINCT_CHARACTERS
  ) {
    return 'is weaker than 32 random bytes; use the output of: openssl rand -hex 32';
  }
  return null;
}
