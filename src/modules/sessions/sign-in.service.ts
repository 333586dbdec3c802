import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { AdminAccounts } from '../studio';
import { signInFailed } from './sessions.errors';
import { type BegunSession, type Browser, SessionsService } from './sessions.service';
import { SignInLimit } from './sign-in-limit';

export interface SignInCredentials {
  readonly email: string;
  readonly password: string;
}

/** Signs admins in with email and password. */
@Injectable()
export class SignInService {
  constructor(
    private readonly limit: SignInLimit,
    private readonly admins: AdminAccounts,
    private readonly sessions: SessionsService,
    private readonly clock: Clock,
  ) {}

  /** @throws {ProblemError} `sign_in_failed`, `too_many_sign_ins` */
  async signIn({ email, password }: SignInCredentials, browser: Browser): Promise<BegunSession> {
    const attempt = { email, address: browser.address };
    await this.limit.count(attempt, this.clock.now());
    const admin = await this.admins.withPassword(email, password);
    if (admin === null) throw signInFailed();
    await this.limit.forgive(attempt);
    return this.sessions.begin(admin, browser);
  }
}
