import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Jobs, runAsBatch } from '../../../platform/jobs';
import { Claims } from '../../../platform/processes';
import { SubscriptionsRepository } from '../../subscriptions';
import { postponedUntil, TestClockParticipants } from '../../test-clocks';
import { RenewSubscriptionsWorkflow } from './renew-subscriptions.workflow';

const NAME = 'due-subscriptions';
const AT_ONCE = 50;
const EVERY_MS = 1_000;
const LEASE_MS = 60_000;

/** Runs what falls due for subscriptions: by the real clock in the background, by a test clock while it is moved. */
@Injectable()
export class DueSubscriptions implements OnModuleInit {
  private readonly logger = new Logger(NAME);

  constructor(
    private readonly jobs: Jobs,
    private readonly claims: Claims,
    private readonly testClocks: TestClockParticipants,
    private readonly clock: Clock,
    private readonly repository: SubscriptionsRepository,
    private readonly renewals: RenewSubscriptionsWorkflow,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: NAME, idleMs: EVERY_MS, runDue: () => this.runDue() });
    this.claims.register({ work: NAME, table: 'subscription', leaseColumn: 'lease_ends_at' });
    this.testClocks.registerJob({
      name: NAME,
      nextDueAt: (testClockId) => this.repository.nextDueOn(testClockId),
      runDue: (testClockId, now) => this.runDueOn(testClockId, now),
    });
  }

  /**
   * Claims subscriptions with due work and does one piece of each, all in one commit; returns whether there may be more.
   * Where that fails, each is done in a commit of its own, so that one that cannot be done harms only itself: it keeps its
   * lease, and is tried again when that has ended.
   */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const ids = await this.claims.claim(NAME, leaseEndsAt, () =>
      this.repository.claimDue(now, leaseEndsAt, AT_ONCE),
    );
    await this.runNext(ids, now, (error, id) => {
      this.logger.error({ err: error, subscription_id: id }, 'due work of a subscription failed');
    });
    return ids.length > 0;
  }

  /** Does one piece of work of each due subscription. Refused work is postponed; a defect stops the clock. */
  private async runDueOn(testClockId: string, now: Date): Promise<void> {
    const ids = await this.repository.dueOn(testClockId, now, AT_ONCE);
    await this.runNext(ids, now, async (error, id) => {
      const until = postponedUntil(error, now);
      this.logger.error({ err: error, subscription_id: id, until }, 'due work was postponed');
      await this.repository.postpone(id, until);
    });
  }

  private runNext(
    ids: readonly string[],
    now: Date,
    onFailure: (error: unknown, id: string) => void | Promise<void>,
  ): Promise<void> {
    return runAsBatch(ids, (some) => this.renewals.runNext(some, now), {
      onBatchFailure: (error) => {
        const text = 'due work of subscriptions failed together, and is done one by one';
        this.logger.warn({ err: error, subscriptions: ids.length }, text);
      },
      onItemFailure: onFailure,
    });
  }
}
