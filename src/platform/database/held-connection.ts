import type { PoolClient } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { copyIn } from './copy-in';

export type RunnerSource = Pick<DataSource, 'createQueryRunner'>;

/**
 * A connection that one piece of work uses alone, for example for temporary tables, which belong to one connection.
 * Each statement of `run` and `copy` commits at once. `Database.transaction` accepts the connection as its `source`.
 */
export class HeldConnection implements RunnerSource {
  constructor(
    private readonly connection: PoolClient,
    private readonly pool: RunnerSource,
  ) {}

  async run(sql: string): Promise<void> {
    await this.connection.query(sql);
  }

  /**
   * @param target table and columns, in SQL
   * @param rows in the text format of COPY
   */
  copy(target: string, rows: Buffer): Promise<void> {
    return copyIn(this.connection, `COPY ${target} FROM STDIN`, rows);
  }

  /** Returns a query runner for one transaction. Releasing the runner does not release the connection. */
  createQueryRunner(): QueryRunner {
    // TypeORM takes a connection from the pool only if this property is not set.
    return Object.assign(this.pool.createQueryRunner(), {
      databaseConnection: this.connection,
    });
  }
}
