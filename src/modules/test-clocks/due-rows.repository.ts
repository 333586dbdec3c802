import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database';

/**
 * Table whose rows fall due by the real clock or on a test clock. The table has the columns `id`, `test_clock_id` and
 * `lease_ends_at`, and two partial indexes: `(<dueColumn>, id)` for the real clock, and `(test_clock_id, <dueColumn>,
 * id)` for test clocks.
 */
export interface DueTable<Row extends DueRow> {
  readonly table: string;
  /** Instant at which a row falls due; null while it has no due work. */
  readonly dueColumn: string;
  /** Columns of the row that the work needs, besides its id. */
  readonly columns: Readonly<Record<Exclude<keyof Row & string, 'id'>, string>>;
}

export interface DueRow {
  readonly id: string;
}

/**
 * SQL condition: the row has no lease at the time `$2`. Rows on a test clock are never leased; for them,
 * `lease_ends_at` is the instant until which their work was postponed.
 */
const HAS_NO_LEASE = '(lease_ends_at IS NULL OR lease_ends_at <= $2)';

/** SQL that leases due rows. It reads an index in due order, so its cost does not depend on how many rows are due. */
const claimSql = ({ table, dueColumn, columns }: DueTable<DueRow>): string => `
  WITH claimed AS (
    UPDATE ${table} SET lease_ends_at = $1 WHERE id = ANY (ARRAY(
      SELECT id FROM ${table}
      WHERE ${dueColumn} <= $2 AND test_clock_id IS NULL AND ${HAS_NO_LEASE}
      ORDER BY ${dueColumn}, id LIMIT $3 FOR UPDATE SKIP LOCKED))
    RETURNING ${selectionOf(columns)}, ${dueColumn} AS due_since)
  SELECT ${['id', ...Object.keys(columns)].map((name) => `"${name}"`).join(', ')} FROM claimed
  ORDER BY due_since, id`;

const dueOnSql = ({ table, dueColumn, columns }: DueTable<DueRow>): string => `
  SELECT ${selectionOf(columns)} FROM ${table}
  WHERE test_clock_id = $1 AND ${dueColumn} <= $2 AND ${HAS_NO_LEASE}
  ORDER BY ${dueColumn}, id LIMIT $3`;

/**
 * SQL for the instant of the next work on a test clock. A row is next at its due time or, if it was postponed, at the end
 * of the postponement. First finds the earliest row that was not postponed. Then reads only the postponed rows that do
 * not fall due later than this row, because later ones cannot be next.
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

/** Finds and leases due rows of the tables of other modules. */
@Injectable()
export class DueRowsRepository {
  constructor(private readonly database: Database) {}

  /** Leases up to `limit` rows that are due by the real clock, and returns them in due order. */
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
   * Returns when the next work of each job falls due on a test clock; null where nothing is planned. The query is a
   * prepared statement, because planning it takes 20 times as long as running it. Its cached plan may be slow until the
   * next ANALYZE (decision 22). This is acceptable here, because it slows down only test clocks.
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

  /** Postpones the work of a row until an instant. */
  async postpone(rows: DueTable<DueRow>, id: string, until: Date): Promise<void> {
    await this.database.query(postponeSql(rows), [id, until]);
  }
}

function selectionOf(columns: Readonly<Record<string, string>>): string {
  const chosen = Object.entries(columns).map(([name, column]) => `${column} AS "${name}"`);
  return ['id', ...chosen].join(', ');
}
