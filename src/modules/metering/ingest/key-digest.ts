import { hash } from 'node:crypto';

/** Returns the first 16 bytes of the SHA-256 of an idempotency key, in hex. The same as `digestOf` in SQL. */
export function keyDigest(key: string): string {
  return hash('sha256', key, 'hex').slice(0, 32);
}
