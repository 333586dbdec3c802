import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import { SessionsRepository } from './sessions.repository';
import { SignInAttemptsRepository } from './sign-in-attempts.repository';

const BATCH_SIZE = 1_000;
const EVERY_MS = 600_000;
const RETENTION_MS = 30 * 86_400_000;

/** Deletes sessions 30 days after their expiry, and sign-in attempts that no longer count towards the limit. */
@Injectable()
export class ExpiredSessions implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly sessions: SessionsRepository,
    private readonly attempts: SignInAttemptsRepository,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'expired-sessions',
      idleMs: EVERY_MS,
      runDue: () => this.deleteExpired(),
    });
  }

  /** Deletes at most one batch of sessions and one of attempts. Returns true if there may be more to delete. */
  async deleteExpired(): Promise<boolean> {
    const now = this.clock.now();
    const attempts = await this.attempts.deleteOld(now, BATCH_SIZE);
    const kept = new Date(now.getTime() - RETENTION_MS);
    const sessions = await this.sessions.deleteExpired(kept, BATCH_SIZE);
    return attempts === BATCH_SIZE || sessions === BATCH_SIZE;
  }
}
