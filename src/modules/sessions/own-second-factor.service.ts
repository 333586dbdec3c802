import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { isProblem } from '../../platform/errors';
import { type AdminAccount, AdminAccounts } from '../studio';
import type { IssuedRecoveryCodes, SecondFactorCode } from './domain/second-factor';
import { SecondFactorsService } from './second-factors.service';
import { secondFactorFailed } from './sessions.errors';
import { type CurrentSession, SessionsService } from './sessions.service';
import { SignInLimit } from './sign-in-limit';

interface CodeSender {
  readonly current: CurrentSession;
  readonly address: string;
}

/** Lets signed-in admins change their own second factor. Each refused code counts as a failed attempt to sign in. */
@Injectable()
export class OwnSecondFactorService {
  constructor(
    private readonly database: Database,
    private readonly admins: AdminAccounts,
    private readonly secondFactors: SecondFactorsService,
    private readonly sessions: SessionsService,
    private readonly limit: SignInLimit,
    private readonly clock: Clock,
  ) {}

  /**
   * Enables the factor that the admin has enrolled. Ends all sessions of the admin except the session that sent the
   * code.
   * @throws {ProblemError} `second_factor_not_found`, `second_factor_enabled`, `second_factor_failed`,
   *   `too_many_sign_ins`
   */
  confirm(sender: CodeSender, totpCode: string): Promise<IssuedRecoveryCodes> {
    return this.countAttempt(sender, (admin) =>
      this.keepingSession(sender, () => this.secondFactors.confirm(admin.id, totpCode)),
    );
  }

  /** @throws {ProblemError} `second_factor_not_found`, `second_factor_failed`, `too_many_sign_ins` */
  replaceRecoveryCodes(sender: CodeSender, totpCode: string): Promise<IssuedRecoveryCodes> {
    return this.countAttempt(sender, ({ id }) =>
      this.secondFactors.replaceRecoveryCodes(id, totpCode),
    );
  }

  /**
   * Removes the factor. Ends all sessions of the admin except the session that sent the code.
   * @throws {ProblemError} `second_factor_not_found`, `second_factor_failed`, `too_many_sign_ins`
   */
  disable(sender: CodeSender, code: SecondFactorCode): Promise<void> {
    return this.countAttempt(sender, (admin) =>
      this.keepingSession(sender, () => this.secondFactors.disable(admin.id, code)),
    );
  }

  /**
   * Counts an attempt to sign in, then runs `attempt`. The attempt stays counted only if the code is refused
   * (`second_factor_failed`).
   * @throws {ProblemError} `too_many_sign_ins`, and the errors of `attempt`
   */
  private async countAttempt<Result>(
    { current: { admin }, address }: CodeSender,
    attempt: (admin: AdminAccount) => Promise<Result>,
  ): Promise<Result> {
    const counted = { email: admin.email, address };
    await this.limit.countAttempt(counted, this.clock.now());
    let isRefused = false;
    try {
      return await attempt(admin);
    } catch (error) {
      isRefused = isProblem(error, secondFactorFailed);
      throw error;
    } finally {
      if (!isRefused) await this.limit.removeAttempt(counted);
    }
  }

  private keepingSession<Result>(
    { current: { session } }: CodeSender,
    work: () => Promise<Result>,
  ): Promise<Result> {
    return this.database.transaction(async () => {
      // A session that a new password has ended meanwhile must stay ended.
      await this.admins.lock(session.adminId);
      await this.sessions.requireActive(session.id);
      const result = await work();
      await this.sessions.keepValid(session.id);
      return result;
    });
  }
}
