import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ProcessSession } from './process-session';

const EVERY_MS = 5_000;

/**
 * Longest time for which a process of the previous release may run without its session. It uses the session every 60 s,
 * waits 35 s for an answer, and then connects again.
 */
const UNSEEN_MS = 120_000;

/**
 * Finds out whether processes of the previous release may still run. As long as they may, this release writes only rows
 * that they can read. No such process can start once the database is migrated. Therefore none is left when this
 * process, in one session, has searched for {@link UNSEEN_MS} and found none.
 */
@Injectable()
export class PreviousRelease implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('previous-release');
  private isGone = false;
  /**
   * First of the latest uninterrupted searches in this session that found no process of the previous release. Null
   * after a search that found one or failed.
   */
  private foundNone: { readonly atMs: number; readonly number: number | null } | null = null;
  private timer: NodeJS.Timeout | null = null;
  private stopped = false;

  constructor(private readonly session: ProcessSession) {}

  /** True once no process of the previous release can run any more. */
  get hasEnded(): boolean {
    return this.isGone;
  }

  async onModuleInit(): Promise<void> {
    await this.session.waitForFirstAttempt();
    await this.searchAndPlanNext();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }

  /**
   * Searches once for processes of the previous release. The process with the number 1 is the first of this database,
   * so there is no previous release.
   * @param nowMs monotonic time
   * @throws {Error} when the database does not answer
   */
  async searchOnce(nowMs = performance.now()): Promise<void> {
    const { foundNone } = this;
    this.foundNone = null;
    if (await this.session.hasFormerProcesses()) return;
    const { number } = this.session;
    const first = foundNone?.number === number ? foundNone : { atMs: nowMs, number };
    this.isGone ||= number === 1 || nowMs - first.atMs >= UNSEEN_MS;
    this.foundNone = first;
  }

  private async searchAndPlanNext(): Promise<void> {
    try {
      await this.searchOnce();
    } catch (error) {
      this.logger.debug({ err: error }, 'cannot look for processes of the previous release');
    }
    if (this.stopped || this.isGone) return;
    this.timer = setTimeout(() => void this.searchAndPlanNext(), EVERY_MS);
  }
}
