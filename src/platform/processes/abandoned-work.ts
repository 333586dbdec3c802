import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../clock';
import { Database, ROW_LOCKS } from '../database';
import { Jobs } from '../jobs';
import { Claims } from './claims';
import { PROCESS_LOCK_CLASS } from './process-session';

const WORK = 'abandoned-work';
const EVERY_MS = 1_000;

/** A table with leases. The column `leased_by` has the number of the process that works on a row. */
export interface LeasedTable {
  readonly table: string;
  /** Column with the end of the lease. The row is due again after that instant. */
  readonly leaseColumn: string;
  /** Name of the due work that processes released rows; null: a later request processes them. */
  readonly work: string | null;
}

/**
 * Ends the leases of dead processes, so that their work is due at once. A process takes an advisory lock on its number
 * (see `ProcessSession`) before it writes a lease with this number. If the lock is free, the process is dead or has
 * lost its connection. A number is given out again only after 2^31 processes.
 */
@Injectable()
export class AbandonedWork implements OnModuleInit {
  private readonly logger = new Logger(WORK);
  private readonly leased: LeasedTable[] = [];

  constructor(
    private readonly jobs: Jobs,
    private readonly database: Database,
    private readonly claims: Claims,
    private readonly clock: Clock,
  ) {}

  /** Registers a table with leases. Call it while the owning module starts. */
  register(rows: LeasedTable): void {
    this.leased.push(rows);
  }

  onModuleInit(): void {
    this.jobs.register({
      name: WORK,
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
      isPrompt: true,
    });
  }

  /**
   * Releases the leases of dead processes. If the last commit of a dead process takes effect only after this run, the
   * next run releases the rows of that commit.
   */
  async runDue(): Promise<boolean> {
    await this.claims.deleteEnded(this.clock.now());
    const dead = await this.deadProcesses();
    if (dead.length === 0) return false;
    for (const rows of this.leased) await this.release(rows, dead);
    await this.claims.release(dead, this.clock.now());
    return false;
  }

  private deadProcesses(): Promise<readonly number[]> {
    return this.database.queryValues<number>(deadProcessesSql(this.leased));
  }

  private async release(rows: LeasedTable, dead: readonly number[]): Promise<void> {
    const released = await this.database.query(releaseSql(rows), [dead, this.clock.now()]);
    if (released.length === 0) return;
    this.logger.warn(
      { table: rows.table, rows: released.length, processes: dead },
      'a process died, or lost its session on the database, with work in progress, which is taken over',
    );
    if (rows.work !== null) this.jobs.wake(rows.work);
  }
}

/**
 * Returns SQL that selects the numbers of dead processes. The statement reads the leases as they were at its start, and
 * the locks (`pg_locks`) after that. It therefore finds the lock of every living process that has a lease, because a
 * process takes its lock before it writes a lease.
 */
function deadProcessesSql(leased: readonly LeasedTable[]): string {
  const numbers = ['claimed_batch', ...leased.map(({ table }) => table)].map(
    (table) => `SELECT leased_by FROM ${table} WHERE leased_by IS NOT NULL`,
  );
  return `
    SELECT DISTINCT leased_by AS number FROM (${numbers.join(' UNION ALL ')}) AS work
    WHERE NOT EXISTS (
      SELECT FROM pg_locks
      WHERE locktype = 'advisory' AND objsubid = 2 AND granted
        AND classid = ${PROCESS_LOCK_CLASS} AND objid = leased_by::oid
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;
}

/**
 * Returns SQL that releases rows. Skips rows that a dead process still has locked. The next run releases these rows.
 */
function releaseSql({ table, leaseColumn }: LeasedTable): string {
  return `
    UPDATE ${table} SET ${leaseColumn} = least(${leaseColumn}, $2), leased_by = NULL
    WHERE id IN (
      SELECT id FROM ${table} WHERE leased_by = ANY ($1) ${ROW_LOCKS.change} SKIP LOCKED)
    RETURNING id`;
}
