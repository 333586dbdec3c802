import { Injectable, Logger } from '@nestjs/common';
import { Database, ROW_LOCKS } from '../database';
import { Jobs } from '../jobs';
import { ProcessSession } from './process-session';

const RECORD = `
  INSERT INTO claimed_batch (leased_by, work, row_ids, lease_ends_at) VALUES ($1, $2, $3, $4)`;

const DELETE_ENDED = 'DELETE FROM claimed_batch WHERE lease_ends_at <= $1';

/** Due work whose rows are claimed in batches. */
export interface ClaimedWork {
  readonly work: string;
  readonly table: string;
  /** Column with the end of the lease. The row is due again after that instant. */
  readonly leaseColumn: string;
  readonly onReleased?: (ids: readonly string[]) => Promise<void>;
}

/**
 * Claims rows of due work for this process. The transaction that claims a batch of rows also records the batch. The
 * record shows which leases to end if the process dies, and remains until the leases end by themselves. Rows whose work
 * is done are not released, because they no longer have the lease of the batch.
 */
@Injectable()
export class Claims {
  private readonly logger = new Logger('claims');
  private readonly registered: ClaimedWork[] = [];

  constructor(
    private readonly database: Database,
    private readonly jobs: Jobs,
    private readonly session: ProcessSession,
  ) {}

  /** Registers due work. Call it while the owning module starts. */
  register(work: ClaimedWork): void {
    this.registered.push(work);
  }

  /**
   * Claims rows, and records the batch in the same transaction.
   * @param claimRows leases rows until `leaseEndsAt`; returns the rows or their ids
   * @throws {ProblemError} `service_unavailable` when this process has no number and gets none within 3 s
   */
  async claim<Row extends string | { readonly id: string }>(
    work: string,
    leaseEndsAt: Date,
    claimRows: () => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> {
    const number = await this.session.requireNumber();
    return this.database.transaction(async () => {
      const rows = await claimRows();
      if (rows.length > 0) {
        const ids = rows.map((row) => (typeof row === 'string' ? row : row.id));
        await this.database.query(RECORD, [number, work, ids, leaseEndsAt]);
      }
      return rows;
    });
  }

  /** Ends the leases of rows that dead processes claimed. Skips locked rows, which the next run releases. */
  async release(dead: readonly number[], now: Date): Promise<void> {
    for (const work of this.registered) {
      const rows = await this.database.query<{ id: string }>(releaseSql(work), [
        dead,
        now,
        work.work,
      ]);
      if (rows.length === 0) continue;
      this.logger.warn(
        { work: work.work, rows: rows.length, processes: dead },
        'a process died, or lost its session on the database, with claimed work, which is released',
      );
      await work.onReleased?.(rows.map(({ id }) => id));
      this.jobs.wake(work.work);
    }
  }

  async deleteEnded(now: Date): Promise<void> {
    await this.database.query(DELETE_ENDED, [now]);
  }
}

/** Returns SQL that releases rows, but only rows that still have the lease of their batch. */
function releaseSql({ table, leaseColumn }: ClaimedWork): string {
  return `
    UPDATE ${table} SET ${leaseColumn} = $2 WHERE id IN (
      SELECT claimed.id
      FROM claimed_batch AS batch CROSS JOIN LATERAL unnest(batch.row_ids) AS wanted(id)
      JOIN ${table} AS claimed ON claimed.id = wanted.id AND claimed.${leaseColumn} = batch.lease_ends_at
      WHERE batch.leased_by = ANY ($1) AND batch.work = $3 AND batch.lease_ends_at > $2
      ORDER BY claimed.id ${ROW_LOCKS.change} OF claimed SKIP LOCKED)
    RETURNING id`;
}
