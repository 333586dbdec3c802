import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Configuration } from '../../../platform/config';
import { Partitions } from '../../../platform/database';
import { Jobs } from '../../../platform/jobs';

const EVERY_MS = 3_600_000;
const MONTHS = 3;
const DAY_MS = 86_400_000;
const TABLE = 'webhook_attempt';

/**
 * Creates partitions of `webhook_attempt` for the coming months, and drops partitions whose retention time has ended.
 */
@Injectable()
export class AttemptRetention implements OnModuleInit {
  private readonly logger = new Logger('webhook-attempt-retention');

  constructor(
    private readonly partitions: Partitions,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
  ) {}

  /**
   * Creates partitions before the first attempt is stored. After a long stop, the current month may have no partition.
   * Its attempts would then go into the default partition, which is never dropped.
   */
  async onModuleInit(): Promise<void> {
    this.jobs.register({
      name: 'webhook-attempt-retention',
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
    });
    try {
      await this.partitions.createMonths(TABLE, this.clock.now(), MONTHS);
    } catch (error) {
      this.logger.warn({ err: error }, 'partitions of webhook attempts are created later');
    }
  }

  /** Creates missing partitions, and drops at most one partition. Returns true if one was dropped. */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    await this.partitions.createMonths(TABLE, now, MONTHS);
    const keptFrom = new Date(now.getTime() - this.configuration.webhookAttemptDays * DAY_MS);
    const dropped = await this.partitions.dropOldest(TABLE, keptFrom);
    if (dropped !== null) this.logger.log({ partition: dropped }, 'dropped attempts of webhooks');
    return dropped !== null;
  }
}
