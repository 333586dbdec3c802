import { Injectable } from '@nestjs/common';
import { Database } from '../database';

/**
 * Rows of one kind of due work. A row is due by the clock of the database, not by a test clock. The table needs an
 * index that starts with `dueAt`, so that counting is fast.
 */
export interface WaitingRows {
  readonly table: string;
  /** Column or SQL expression with the instant at which a row falls due. */
  readonly dueAt: string;
  readonly where?: string;
}

interface Waiting {
  readonly waiting: number;
  /** Seconds since the first of the due rows became due; 0 if no row is due. */
  readonly oldestSeconds: number;
}

@Injectable()
export class WaitingRowsRepository {
  constructor(private readonly database: Database) {}

  /** Counts rows that are due now by the clock of the database, up to `limit`. */
  async count({ table, dueAt, where = 'TRUE' }: WaitingRows, limit: number): Promise<Waiting> {
    const [row] = await this.database.query<Waiting>(
      `SELECT count(*)::int AS waiting,
         coalesce(extract(epoch FROM now() - min(due_at)), 0)::float8 AS "oldestSeconds"
       FROM (
         SELECT ${dueAt} AS due_at FROM ${table} WHERE ${dueAt} <= now() AND ${where}
         ORDER BY ${dueAt} LIMIT $1) AS due`,
      [limit],
    );
    return row ?? { waiting: 0, oldestSeconds: 0 };
  }
}
