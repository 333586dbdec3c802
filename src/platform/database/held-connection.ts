import type { PoolClient } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { copyIn } from './copy-in';

/** Source of the connection of a transaction. */
export type RunnerSource = Pick<DataSource, 'createQueryRunner'>;

/**
 * A connection that one piece of work has for itself, for temporary tables. Each statement is a commit of its own.
 * `Database.transaction` can run on the connection too.
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
   * Writes rows, in the text format of COPY.
   * @param target table and columns, in SQL
   */
  copy(target: string, rows: Buffer): Promise<void> {
    return copyIn(this.connection, `COPY ${target} FROM STDIN`, rows);
  }

  /** Returns a query runner for one transaction. Its release does not release the connection. */
  createQueryRunner(): QueryRunner {
    // TypeORM takes a connection from the pool only if this property is not set.
    return Object.assign(this.pool.createQueryRunner(), {
      databaseConnection: this.connection,
    });
  }
}
