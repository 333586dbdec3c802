import { Injectable } from '@nestjs/common';
import { Database, ROW_LOCKS } from '../../platform/database';

/**
 * A table whose rows fall due for background work, in real time or on a test clock. The table must have the columns
 * `id`, `test_clock_id` and `lease_ends_at`, and two partial indexes: `(<dueColumn>, id)` for real time, and
 * `(test_clock_id, <dueColumn>, id)` for test clocks.
 */
export interface DueTable<Row extends DueRow> {
  readonly table: string;
  /** Name of the column with the instant at which a row is due. The column is null while the row has no due work. */
  readonly dueColumn: string;
  /** Names of the other columns that the work needs, by the name of the field in `Row`. */
  readonly columns: Readonly<Record<Exclude<keyof Row & string, 'id'>, string>>;
}

export interface DueRow {
  readonly id: string;
}

/**
 * SQL condition: the row is neither leased nor postponed at the time `$2`. Rows on a test clock are never leased. Their
 * `lease_ends_at` is the time until which their work is postponed.
 */
const HAS_NO_LEASE = '(lease_ends_at IS NULL OR lease_ends_at <= $2)';

/**
 * SQL that leases rows that are due in real time. It reads an index in the order of the due times, so that its cost
 * does not depend on how many rows are due.
 */
const claimSql = ({ table, dueColumn, columns }: DueTable<DueRow>): string => `
  WITH claimed AS (
    UPDATE ${table} SET lease_ends_at = $1 WHERE id = ANY (ARRAY(
      SELECT id FROM ${table}
      WHERE ${dueColumn} <= $2 AND test_clock_id IS NULL AND ${HAS_NO_LEASE}
      ORDER BY ${dueColumn}, id LIMIT $3 ${ROW_LOCKS.change} SKIP LOCKED))
    RETURNING ${selectionOf(columns)}, ${dueColumn} AS due_since)
  SELECT ${['id', ...Object.keys(columns)].map((name) => `"${name}"`).join(', ')} FROM claimed
  ORDER BY due_since, id`;

const dueOnSql = ({ table, dueColumn, columns }: DueTable<DueRow>): string => `
  SELECT ${selectionOf(columns)} FROM ${table}
  WHERE test_clock_id = $1 AND ${dueColumn} <= $2 AND ${HAS_NO_LEASE}
  ORDER BY ${dueColumn}, id LIMIT $3`;

/**
 * SQL that selects the time of the next work on a test clock. This is the due time of a row or, if the row was
 * postponed, the end of the postponement. A postponed row is read only if it falls due no later than the first row that
 * was not postponed. Other postponed rows cannot be next.
 */
export const nextDueOnSql = ({ table, dueColumn }: DueTable<DueRow>): string => `
  WITH planned AS (
    SELECT min(${dueColumn}) AS due_at FROM ${table}
    WHERE test_clock_id = $1 AND ${dueColumn} IS NOT NULL AND lease_ends_at IS NULL)
  SELECT least(planned.due_at, (
    SELECT min(greatest(${dueColumn}, lease_ends_at)) FROM ${table}
    WHERE test_clock_id = $1 AND lease_ends_at IS NOT NULL
      AND ${dueColumn} <= coalesce(planned.due_at, 'infinity'))) AS due_at
  FROM planned`;

const postponeSql = ({ table }: DueTable<DueRow>): string =>
  `UPDATE ${table} SET lease_ends_at = $2 WHERE id = $1`;

/** Finds and leases due rows in the tables of other modules. */
@Injectable()
export class DueRowsRepository {
  constructor(private readonly database: Database) {}

  /** Leases up to `limit` rows that are due in real time, and returns them in due order. */
  claim<Row extends DueRow>(
    rows: DueTable<Row>,
    now: Date,
    leaseEndsAt: Date,
    limit: number,
  ): Promise<readonly Row[]> {
    return this.database.query<Row>(claimSql(rows), [leaseEndsAt, now, limit]);
  }

  /** Returns up to `limit` rows that are due on a test clock, in due order. */
  findDueOnTestClock<Row extends DueRow>(
    rows: DueTable<Row>,
    testClockId: string,
    now: Date,
    limit: number,
  ): Promise<readonly Row[]> {
    return this.database.query<Row>(dueOnSql(rows), [testClockId, now, limit]);
  }

  /**
   * Returns when the next work of each job is due on a test clock, by the name of the job. Null: the job has no planned
   * work. The query is a prepared statement, because planning takes 20 times as long as running it. The cached plan may
   * be slow until the next ANALYZE (decision 22), which slows down only test clocks.
   */
  async nextDueOnTestClock<Name extends string>(
    jobs: readonly { readonly name: Name; readonly nextDue: string }[],
    testClockId: string,
  ): Promise<Readonly<Record<Name, Date | null>> | undefined> {
    const columns = jobs.map(({ name, nextDue }) => `(${nextDue}) AS "${name}"`);
    const [row] = await this.database.queryPrepared<Record<Name, Date | null>>(
      'test-clock-next-due',
      `SELECT ${columns.join(', ')}`,
      [testClockId],
    );
    return row;
  }

  async postpone(rows: DueTable<DueRow>, id: string, until: Date): Promise<void> {
    await this.database.query(postponeSql(rows), [id, until]);
  }
}

function selectionOf(columns: Readonly<Record<string, string>>): string {
  const chosen = Object.entries(columns).map(([name, column]) => `${column} AS "${name}"`);
  return ['id', ...chosen].join(', ');
}
