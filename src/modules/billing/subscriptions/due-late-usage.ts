import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs, runAsBatch } from '../../../platform/jobs';
import { Claims } from '../../../platform/processes';
import { FinalUsageService } from '../../metering';
import { postponedUntil, TestClockParticipants } from '../../test-clocks';
import { BillLateUsageWorkflow } from './bill-late-usage.workflow';

const NAME = 'due-late-usage';
const AT_ONCE = 50;
const EVERY_MS = 1_000;
const LEASE_MS = 60_000;

/** Bills late usage of ended subscriptions when it is due: by the real clock in the background, by a test clock as it moves. */
@Injectable()
export class DueLateUsage implements OnModuleInit {
  private readonly logger = new Logger(NAME);

  constructor(
    private readonly jobs: Jobs,
    private readonly claims: Claims,
    private readonly testClocks: TestClockParticipants,
    private readonly clock: Clock,
    private readonly finalUsage: FinalUsageService,
    private readonly billing: BillLateUsageWorkflow,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: NAME, idleMs: EVERY_MS, runDue: () => this.runDue() });
    this.claims.register({
      work: NAME,
      table: 'usage_closed_subscription',
      leaseColumn: 'lease_ends_at',
    });
    this.testClocks.registerJob({
      name: NAME,
      nextDueAt: (testClockId) => this.finalUsage.nextDueOn(testClockId),
      runDue: (testClockId, now) => this.runDueOn(testClockId, now),
    });
  }

  /**
   * Claims ended subscriptions with late usage that is due, and bills it; returns whether there may be more. One that cannot
   * be billed keeps its lease and is tried again when that has ended.
   */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const ids = await this.claims.claim(NAME, leaseEndsAt, () =>
      this.finalUsage.claimDue(now, leaseEndsAt, AT_ONCE),
    );
    await this.bill(ids, now, (error, id) => {
      this.logger.error({ err: error, subscription_id: id }, 'late usage could not be billed');
    });
    return ids.length > 0;
  }

  /** Bills due late usage on a test clock. Refused work is postponed; a defect stops the clock. */
  private async runDueOn(testClockId: string, now: Date): Promise<void> {
    const ids = await this.finalUsage.dueOn(testClockId, now, AT_ONCE);
    await this.bill(ids, now, async (error, id) => {
      const until = postponedUntil(error, now);
      this.logger.error({ err: error, subscription_id: id, until }, 'late usage was postponed');
      await this.finalUsage.postpone(id, until);
    });
  }

  private bill(
    ids: readonly string[],
    now: Date,
    onFailure: (error: unknown, id: string) => void | Promise<void>,
  ): Promise<void> {
    return runAsBatch(ids, (some) => this.billing.billAll(some, now), {
      onBatchFailure: (error) => {
        const text = 'late usage could not be billed together, and is billed one by one';
        this.logger.warn({ err: error, subscriptions: ids.length }, text);
      },
      onItemFailure: onFailure,
    });
  }
}
