import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import {
  DataSource,
  type EntityManager,
  type EntityTarget,
  type ObjectLiteral,
  type QueryRunner,
  type Repository,
} from 'typeorm';
import { isWorthRetrying } from './postgres-errors';

interface OpenTransaction {
  readonly runner: QueryRunner;
  readonly afterCommit: (() => void)[];
}

const TRIES = 3;

/**
 * The way to the database. A transaction travels with the asynchronous call, not by hand: every query made while one is
 * open runs inside it, so that none can escape its rollback.
 */
@Injectable()
export class Database {
  private readonly open = new AsyncLocalStorage<OpenTransaction | undefined>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs the work in a transaction (READ COMMITTED) and returns what it returns. Joins the open one if there is one.
   * The outermost call commits, or rolls everything back when the work throws, and does the whole work again, at most
   * three times in all, after a deadlock or serialization failure: so the work must leave nothing behind but its rows.
   */
  async transaction<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.open.getStore() !== undefined) return work();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.runOnce(work);
      } catch (error) {
        if (attempt === TRIES || !isWorthRetrying(error)) throw error;
      }
    }
  }

  private async runOnce<Result>(work: () => Promise<Result>): Promise<Result> {
    const transaction: OpenTransaction = {
      runner: this.dataSource.createQueryRunner(),
      afterCommit: [],
    };
    let result: Result;
    try {
      await transaction.runner.startTransaction();
      try {
        result = await this.open.run(transaction, work);
        await transaction.runner.commitTransaction();
      } catch (error) {
        await rollBackQuietly(transaction.runner);
        throw error;
      }
    } finally {
      await transaction.runner.release();
    }
    for (const callback of transaction.afterCommit) callback();
    return result;
  }

  /** The rows of one statement, inside the open transaction if there is one. */
  async query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const transaction = this.open.getStore();
    if (transaction !== undefined) return rowsOf(transaction.runner, sql, parameters);
    const runner = this.dataSource.createQueryRunner();
    try {
      return await rowsOf(runner, sql, parameters);
    } finally {
      await runner.release();
    }
  }

  /** TypeORM's repository of an entity, bound to the open transaction if there is one. */
  repository<Entity extends ObjectLiteral>(entity: EntityTarget<Entity>): Repository<Entity> {
    return this.manager.getRepository(entity);
  }

  /** Writes a new row; every column is given. */
  async insert<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    row: Entity,
  ): Promise<void> {
    await this.repository(entity).insert(row);
  }

  /** Writes the columns given to the row with this id. */
  async update<Entity extends ObjectLiteral & { readonly id: string }>(
    entity: EntityTarget<Entity>,
    id: string,
    columns: Partial<Entity>,
  ): Promise<void> {
    await this.repository(entity).update(id, columns);
  }

  /**
   * Throws unless a transaction is open: for writes that are only right together with others.
   * @throws {Error} a defect of the caller
   */
  requireTransaction(): void {
    if (this.open.getStore() === undefined) throw new Error('This must run inside a transaction.');
  }

  /**
   * Throws when a transaction is open: for calls to the outside, which would hold its locks for as long as they take.
   * @throws {Error} a defect of the caller
   */
  refuseTransaction(what: string): void {
    if (this.open.getStore() !== undefined) {
      throw new Error(`${what} must not run inside a transaction.`);
    }
  }

  /** Calls back once the open transaction has committed; never if it rolls back. */
  afterCommit(callback: () => void): void {
    const transaction = this.open.getStore();
    if (transaction === undefined) callback();
    else transaction.afterCommit.push(callback);
  }

  /** Where the database is, for those who need a connection of their own. Holds the password. */
  get url(): string {
    const { options } = this.dataSource;
    if (options.type !== 'postgres' || options.url === undefined) throw new Error('No URL is set.');
    return options.url;
  }

  private get manager(): EntityManager {
    return this.open.getStore()?.runner.manager ?? this.dataSource.manager;
  }
}

async function rowsOf<Row>(
  runner: QueryRunner,
  sql: string,
  parameters: readonly unknown[],
): Promise<Row[]> {
  const result = await runner.query(sql, [...parameters], true);
  return result.records as Row[];
}

/** A connection that is gone cannot roll back and has nothing to: the first error is the one that tells. */
async function rollBackQuietly(runner: QueryRunner): Promise<void> {
  try {
    if (runner.isTransactionActive) await runner.rollbackTransaction();
  } catch {
    // The server rolls back what a lost connection left open.
  }
}
