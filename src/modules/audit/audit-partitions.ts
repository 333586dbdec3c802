import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Database, isLockTimeout, violatesCheck } from '../../platform/database';
import { Jobs } from '../../platform/jobs';
import { monthsFrom } from './domain/partition';

const EVERY_MS = 3_600_000;
const MONTHS = 3;
/** Creating a partition waits for writers, and writers wait behind it; so it gives up soon and is tried again. */
const LONGEST_WAIT_MS = 200;
const PARTITIONED = ['audit_log', 'audit_change'] as const;

/**
 * Creates the partitions of this month and the coming ones. Rows of a month without one are in the default partition;
 * such a month stays there.
 */
@Injectable()
export class AuditPartitions implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: 'audit-partitions',
      idleMs: EVERY_MS,
      runDue: async () => {
        await this.runDue();
        return false;
      },
    });
  }

  async runDue(): Promise<void> {
    for (const table of PARTITIONED) {
      for (const { suffix, from, to } of monthsFrom(this.clock.now(), MONTHS)) {
        await this.create(`${table}_${suffix}`, table, from, to);
      }
    }
  }

  private async create(name: string, table: string, from: string, to: string): Promise<void> {
    const rows = await this.database.query<{ exists: boolean }>(
      'SELECT to_regclass($1) IS NOT NULL AS exists',
      [name],
    );
    if (rows[0]?.exists === true) return;
    try {
      await this.database.transaction(async () => {
        await this.database.query(`SET LOCAL lock_timeout = ${LONGEST_WAIT_MS}`);
        await this.database.query(
          `CREATE TABLE IF NOT EXISTS "${name}" PARTITION OF "${table}"
           FOR VALUES FROM ('${from}') TO ('${to}')`,
        );
      });
    } catch (error) {
      // The default partition has rows of the month already.
      if (!isLockTimeout(error) && !violatesCheck(error)) throw error;
    }
  }
}
