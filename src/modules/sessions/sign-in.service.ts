import { Injectable } from '@nestjs/common';
import { actAsAdmin } from '../../platform/access';
import { Clock } from '../../platform/clock';
import { AdminAccounts } from '../studio';
import type { SecondFactorCode } from './domain/second-factor';
import { SecondFactorsService } from './second-factors.service';
import { secondFactorFailed, secondFactorRequired, signInFailed } from './sessions.errors';
import { type SessionWithSecret, type Browser, SessionsService } from './sessions.service';
import { SignInLimit } from './sign-in-limit';

export interface SignInCredentials {
  readonly email: string;
  readonly password: string;
  readonly code: SecondFactorCode;
}

/** Signs admins in with email and password. Admins with a second factor also need a code. */
@Injectable()
export class SignInService {
  constructor(
    private readonly limit: SignInLimit,
    private readonly admins: AdminAccounts,
    private readonly secondFactors: SecondFactorsService,
    private readonly sessions: SessionsService,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws {ProblemError} `sign_in_failed`, `second_factor_required`, `second_factor_failed`, `too_many_sign_ins`
   */
  async signIn(credentials: SignInCredentials, browser: Browser): Promise<SessionWithSecret> {
    const { email, password, code } = credentials;
    const attempt = { email, address: browser.address };
    await this.limit.countAttempt(attempt, this.clock.now());
    const admin = await this.admins.withPassword(email, password).catch(async (error: unknown) => {
      // The password was not checked.
      await this.limit.removeAttempt(attempt);
      throw error;
    });
    if (admin === null) throw signInFailed();
    actAsAdmin(admin.id);
    const proof = await this.secondFactors.use(admin.id, code);
    if (proof === 'missing') {
      // Removes only this attempt from the counts. Clearing the count of the account would let somebody who knows the
      // password try any number of codes.
      await this.limit.removeAttempt(attempt);
      throw secondFactorRequired();
    }
    if (proof === 'wrong') throw secondFactorFailed();
    await this.limit.recordSuccess(attempt);
    return this.sessions.begin(admin, browser, 'password');
  }
}
