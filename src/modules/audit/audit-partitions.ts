import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Partitions } from '../../platform/database';
import { Jobs } from '../../platform/jobs';

const EVERY_MS = 3_600_000;
const MONTHS = 3;
const PARTITIONED = ['audit_log', 'audit_change'] as const;

/**
 * Creates the partitions of the current month and of the next two months. Rows of a month without a partition go into
 * the default partition, and stay there.
 */
@Injectable()
export class AuditPartitions implements OnModuleInit {
  private readonly logger = new Logger('audit-partitions');

  constructor(
    private readonly partitions: Partitions,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  async onModuleInit(): Promise<void> {
    this.jobs.register({
      name: 'audit-partitions',
      idleMs: EVERY_MS,
      runDue: async () => {
        await this.runDue();
        return false;
      },
    });
    await this.createFirst();
  }

  /**
   * Creates the partitions before the first entry is written. Otherwise the rows of the present month would go into the
   * default partition, from which `AuditRetention` drops nothing. Also runs in commands and in processes without
   * background work, because a command or such a process may write the first entry.
   */
  private async createFirst(): Promise<void> {
    try {
      await this.runDue();
    } catch (error) {
      this.logger.warn({ err: error }, 'partitions of the audit log are created later');
    }
  }

  async runDue(): Promise<void> {
    for (const table of PARTITIONED) {
      await this.partitions.createMonths(table, this.clock.now(), MONTHS);
    }
  }
}
