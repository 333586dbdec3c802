import type { PasswordHash } from './password-hash';

const MIB = 2 ** 20;

/** Maximum memory of one check. Two checks run at once in each process. */
const MAX_MEMORY_BYTES = 128 * MIB;
/** Maximum number of bytes that argon2id writes in all passes: 64 MiB in 8 passes take about 0.5 s. */
const MAX_WRITTEN_BYTES = 512 * MIB;
/** Maximum cost of bcrypt, which takes about 1 s. Each step of the cost doubles the time. */
const MAX_BCRYPT_COST = 14;
/**
 * Maximum cost of a PBKDF2 hash: iterations times the number of 32-byte blocks of the output. OWASP recommends 600,000
 * iterations.
 */
const MAX_PBKDF2_ITERATIONS = 2_000_000;
const PBKDF2_BLOCK_BYTES = 32;
/** Maximum number of bytes that scrypt writes in all parallel parts. */
const MAX_SCRYPT_BYTES = 256 * MIB;

/** Returns false for a hash that must not be computed, because it would take too much time or memory. */
export function isAffordable(hash: PasswordHash): boolean {
  switch (hash.scheme) {
    case 'argon2id': {
      const bytes = hash.memoryKib * 1_024;
      return bytes <= MAX_MEMORY_BYTES && bytes * hash.passes <= MAX_WRITTEN_BYTES;
    }
    case 'bcrypt':
      return hash.costLog2 <= MAX_BCRYPT_COST;
    case 'scrypt': {
      const bytes = scryptBytes(hash);
      return bytes <= MAX_MEMORY_BYTES && bytes * hash.parallelization <= MAX_SCRYPT_BYTES;
    }
    case 'pbkdf2-sha256': {
      const blocks = Math.ceil(hash.hash.length / PBKDF2_BLOCK_BYTES);
      return hash.rounds * blocks <= MAX_PBKDF2_ITERATIONS;
    }
  }
}

/** Returns the memory that scrypt needs (RFC 7914): 128 N r bytes. */
export function scryptBytes({
  costLog2,
  blockSize,
}: Extract<PasswordHash, { readonly scheme: 'scrypt' }>): number {
  return 128 * 2 ** costLog2 * blockSize;
}
