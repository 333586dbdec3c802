import { hash } from 'node:crypto';

/** Returns the digest that identifies an idempotency key, as `digestOf` in SQL: the first 16 bytes of its SHA-256, in hex. */
export function keyDigest(key: string): string {
  return hash('sha256', key, 'hex').slice(0, 32);
}
