import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { rateLimitAddress } from '../../platform/rate-limits';
import { emailKeyOf, tooManySignIns } from '../studio';
import { SignInAttemptsRepository } from './sign-in-attempts.repository';

export interface SignInAttempt {
  readonly email: string;
  readonly address: string;
}

/**
 * Limits the attempts to sign in to each account (by email) and from each IP address. Attempts with an email that no
 * account has are limited in the same way.
 */
@Injectable()
export class SignInLimit {
  constructor(private readonly attempts: SignInAttemptsRepository) {}

  /**
   * Counts an attempt. Must be called before the password or code is checked, so that concurrent attempts cannot exceed
   * the limit.
   * @throws {ProblemError} `too_many_sign_ins`
   */
  async countAttempt(attempt: SignInAttempt, now: Date): Promise<void> {
    // The address is counted first, so that an address without attempts left does not use up attempts of the account.
    // If the account has no attempts left, the attempt of the address is removed again.
    for (const key of [addressKey(attempt), accountKey(attempt)]) {
      const allowedAt = await this.attempts.add(key, now);
      if (allowedAt === null) continue;
      if (key === accountKey(attempt)) await this.attempts.removeLast(addressKey(attempt));
      throw tooManySignIns(Math.max(1, Math.ceil((allowedAt.getTime() - now.getTime()) / 1_000)));
    }
  }

  /** Clears the count of the account. Removes only the successful attempt from the count of the address. */
  async recordSuccess(attempt: SignInAttempt): Promise<void> {
    await this.attempts.removeAll(accountKey(attempt));
    await this.attempts.removeLast(addressKey(attempt));
  }

  /** Removes the last attempt from the counts of the account and of the IP address. Earlier failures still count. */
  async removeAttempt(attempt: SignInAttempt): Promise<void> {
    await this.attempts.removeLast(accountKey(attempt));
    await this.attempts.removeLast(addressKey(attempt));
  }
}

/**
 * Returns the key under which attempts for an account are counted. It contains only a hash of the email, because people
 * sometimes type their password into the email field.
 */
function accountKey({ email }: SignInAttempt): string {
  return `account:${createHash('sha256').update(emailKeyOf(email)).digest('hex')}`;
}

function addressKey({ address }: SignInAttempt): string {
  return `address:${rateLimitAddress(address)}`;
}
