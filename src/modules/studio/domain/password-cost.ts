import type { PasswordHash } from './password-hash';

const MIB = 2 ** 20;

/**
 * Maximum memory for checking one password with argon2id or scrypt. Each process checks at most two passwords at once.
 */
const MAX_MEMORY_BYTES = 128 * MIB;
/**
 * Maximum number of bytes that argon2id writes: memory times passes. For example, 64 MiB in 8 passes take about 0.5 s.
 */
const MAX_WRITTEN_BYTES = 512 * MIB;
/** Maximum cost parameter of bcrypt. A check with this cost takes about 1 s; each increment doubles the time. */
const MAX_BCRYPT_COST = 14;
/**
 * Maximum cost of a PBKDF2 hash: iterations times the number of 32-byte blocks of the output. OWASP recommends 600,000
 * iterations.
 */
const MAX_PBKDF2_ITERATIONS = 2_000_000;
const PBKDF2_BLOCK_BYTES = 32;
/** Maximum number of bytes that scrypt writes: memory times parallelization. */
const MAX_SCRYPT_BYTES = 256 * MIB;
/**
 * Maximum number of bytes that scrypt derives with PBKDF2. This part of scrypt takes much longer per byte than all
 * other parts.
 */
const MAX_SCRYPT_PBKDF2_BYTES = MIB;

/** Returns true if checking a password against the hash takes an acceptable amount of time and memory. */
export function isAffordable(hash: PasswordHash): boolean {
  switch (hash.scheme) {
    case 'argon2id': {
      const bytes = hash.memoryKib * 1_024;
      return bytes <= MAX_MEMORY_BYTES && bytes * hash.passes <= MAX_WRITTEN_BYTES;
    }
    case 'bcrypt':
      return hash.costLog2 <= MAX_BCRYPT_COST;
    case 'scrypt': {
      const { costLog2, blockSize, parallelization } = hash;
      // RFC 7914: 128 r bytes are one block, the memory is N blocks, and PBKDF2 makes p blocks.
      const bytes = 128 * blockSize * 2 ** costLog2;
      return (
        bytes <= MAX_MEMORY_BYTES &&
        bytes * parallelization <= MAX_SCRYPT_BYTES &&
        128 * blockSize * parallelization <= MAX_SCRYPT_PBKDF2_BYTES
      );
    }
    case 'pbkdf2-sha256': {
      const blocks = Math.ceil(hash.hash.length / PBKDF2_BLOCK_BYTES);
      return hash.rounds * blocks <= MAX_PBKDF2_ITERATIONS;
    }
  }
}
