import { pbkdf2, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { hash as hashArgon2, verify as verifyArgon2 } from '@node-rs/argon2';
import { verify as verifyBcrypt } from '@node-rs/bcrypt';
import { ConcurrencyLimiter } from '../../platform/concurrency';
import { isAffordable } from './domain/password-cost';
import { parsePasswordHash, type PasswordHash } from './domain/password-hash';
import { tooManySignIns } from './studio.errors';

/**
 * Maximum number of passwords that are checked at once. Half of Node's worker threads (four by default) stay free for
 * reading files and resolving host names.
 */
const MAX_CONCURRENT = 2;
/** Maximum number of checks that wait for their turn. Together they take a few seconds. */
const MAX_WAITING = 32;
const BUSY_SECONDS = 2;

const derive = {
  pbkdf2: promisify(pbkdf2),
  scrypt: (password: string, { salt, hash, costLog2, ...rest }: Scrypt): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const { blockSize, parallelization } = rest;
      const cost = 2 ** costLog2;
      // The memory that OpenSSL allocates.
      const maxmem = 128 * blockSize * (cost + parallelization + 2);
      const options = { cost, blockSize, parallelization, maxmem };
      scrypt(password, salt, hash.length, options, (error, key) => {
        if (error === null) resolve(key);
        else reject(error);
      });
    }),
};

/** Minimum cost of argon2id that OWASP recommends: 19 MiB in two passes. The library uses argon2id by default. */
const ARGON2ID = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

type Scrypt = Extract<PasswordHash, { readonly scheme: 'scrypt' }>;

/** Hashes passwords and checks passwords against stored hashes, outside the event loop. */
@Injectable()
export class Passwords {
  private readonly checks = new ConcurrencyLimiter(MAX_CONCURRENT, MAX_WAITING);

  /** Returns an argon2id hash of the password with a random salt. */
  hash(password: string): Promise<string> {
    return hashArgon2(password, ARGON2ID);
  }

  /** Returns true if passwords can be checked against the hash: its form is recognised, and its cost is acceptable. */
  canCheck(passwordHash: string): boolean {
    const hash = parsePasswordHash(passwordHash);
    return hash !== null && isAffordable(hash);
  }

  /**
   * Returns true if the password matches the hash. Returns false for every hash that {@link canCheck} rejects. Such a
   * hash is not computed, because its cost may be excessive.
   * @throws {ProblemError} `too_many_sign_ins` if too many checks are already waiting
   */
  async verify(password: string, passwordHash: string): Promise<boolean> {
    const hash = parsePasswordHash(passwordHash);
    if (hash === null || !isAffordable(hash)) return false;
    if (this.checks.isFull) throw tooManySignIns(BUSY_SECONDS);
    return this.checks.run(() => matches(password, passwordHash, hash));
  }
}

async function matches(password: string, text: string, hash: PasswordHash): Promise<boolean> {
  switch (hash.scheme) {
    case 'argon2id':
      // The library refuses a few forms of other implementations, such as a hash of more than 64 bytes.
      return verifyArgon2(text, password).catch(() => false);
    case 'bcrypt':
      return verifyBcrypt(password, text);
    case 'scrypt':
      return timingSafeEqual(await derive.scrypt(password, hash), hash.hash);
    case 'pbkdf2-sha256': {
      const { salt, rounds, hash: expected } = hash;
      const key = await derive.pbkdf2(password, salt, rounds, expected.length, 'sha256');
      return timingSafeEqual(key, expected);
    }
  }
}
