import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Jobs, runAsBatch } from '../../platform/jobs';
import { SubscriptionsRepository } from '../subscriptions';
import { MrrChangesRepository } from './mrr-changes.repository';
import { RecurringRevenueService } from './recurring-revenue.service';

export const PENDING_MRR_WORK = 'pending-mrr';
const EVERY_MS = 30_000;

/**
 * Maximum number of subscriptions that one transaction locks. Other work on these subscriptions waits until the
 * transaction ends.
 */
const BATCH_SIZE = 200;

/** Records the revenue of subscriptions that a process of a previous release created or changed. */
@Injectable()
export class PendingMrr implements OnModuleInit {
  private readonly logger = new Logger(PENDING_MRR_WORK);

  constructor(
    private readonly jobs: Jobs,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly changes: MrrChangesRepository,
    private readonly revenue: RecurringRevenueService,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: PENDING_MRR_WORK, idleMs: EVERY_MS, runDue: () => this.runDue() });
  }

  /**
   * Records the revenue of a batch of subscriptions in one commit, or of each subscription alone if the batch
   * fails. Returns true if more may be pending.
   */
  async runDue(): Promise<boolean> {
    const ids = await this.changes.findPending(BATCH_SIZE);
    let failed = 0;
    await runAsBatch(ids, (batch) => this.record(batch), {
      onBatchFailure: (error) => {
        this.logger.warn({ err: error }, 'a batch of pending subscriptions failed');
      },
      onItemFailure: (error, id) => {
        failed += 1;
        this.logger.error({ err: error, subscription_id: id }, 'a subscription was not recorded');
      },
    });
    return ids.length === BATCH_SIZE && failed === 0;
  }

  private async record(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.database.transaction(async () => {
      const locked = await this.subscriptions.lockAll(ids);
      // Another process may have recorded some of these subscriptions while this one waited for the locks.
      const pending = await this.changes.filterPending(locked.map(({ id }) => id));
      await this.revenue.recordPending(
        locked.filter(({ id }) => pending.has(id)),
        this.clock.now(),
      );
    });
  }
}
