import { Injectable } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import {
  DataSource,
  type EntityManager,
  type EntityTarget,
  type ObjectLiteral,
  type QueryRunner,
  type Repository,
} from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import { CallScope } from './call-scope';
import { disconnect, rollBackQuietly, timed, type TimedQuery } from './connections';
import { copyIn } from './copy-in';
import { ANSWER_SLACK_MS } from './data-source-options';
import { EntitySql, type Statement } from './entity-sql';
import { Outage } from './outage';
import { isConnectionUseless, isWorthRetrying } from './postgres-errors';

interface OpenTransaction {
  readonly runner: QueryRunner;
  readonly afterCommit: (() => void)[];
  /** How long its statements may go without an answer, where that is longer than for all others. */
  patienceMs?: number;
}

const TRIES = 3;

const LOCK_NOTHING = 'SELECT FROM migration LIMIT 0 FOR KEY SHARE';

/**
 * The way to the database. A transaction travels with the asynchronous call, not by hand: every query made while one is
 * open runs inside it, so that none can escape its rollback.
 */
@Injectable()
export class Database {
  private readonly open = new CallScope<OpenTransaction>();
  private readonly outage = new Outage();
  /** The names of prepared inserts, by their text. */
  private readonly insertNames = new Map<string, string>();
  private readonly entitySql = new Map<EntityTarget<ObjectLiteral>, EntitySql<ObjectLiteral>>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs the work in a transaction (READ COMMITTED) and returns what it returns. Joins the open one if there is one.
   * The outermost call commits, or rolls everything back when the work throws, and does the whole work again, at most
   * three times in all, after a deadlock or serialization failure: so the work must leave nothing behind but its rows.
   * @param options.tries 1 for work that reads what cannot be read again, such as the body of a request
   */
  async transaction<Result>(
    work: () => Promise<Result>,
    options: { readonly tries?: 1 } = {},
  ): Promise<Result> {
    if (this.open.current !== undefined) return work();
    return retrying(options.tries ?? TRIES, () => this.runOnce(work));
  }

  /**
   * Runs a statement that is a commit of its own, and again, at most three times in all, after a deadlock or serialization
   * failure.
   */
  alone<Result>(statement: () => Promise<Result>): Promise<Result> {
    this.refuseTransaction('A commit of its own');
    return retrying(TRIES, statement);
  }

  /**
   * Runs a part of the open transaction that is rolled back and done again alone, at most three times in all, after a
   * deadlock or serialization failure. The locks it took are free again before it takes them anew.
   */
  async part<Result>(work: () => Promise<Result>): Promise<Result> {
    this.requireTransaction();
    await this.query('SAVEPOINT part');
    const result = await retrying(TRIES, async () => {
      try {
        return await work();
      } catch (error) {
        if (isWorthRetrying(error)) await this.query('ROLLBACK TO SAVEPOINT part');
        throw error;
      }
    });
    await this.query('RELEASE SAVEPOINT part');
    return result;
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
        this.outage.answered();
      } catch (error) {
        if (isConnectionUseless(error)) await disconnect(transaction.runner);
        else await rollBackQuietly(transaction.runner);
        throw error;
      }
    } catch (error) {
      this.outage.failed(error);
      throw error;
    } finally {
      await transaction.runner.release();
    }
    for (const callback of transaction.afterCommit) callback();
    return result;
  }

  /** The rows of one statement, inside the open transaction if there is one. */
  query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    // Two arguments: an object that holds both `pg` copies, property by property.
    return this.send(sql, parameters as unknown[]);
  }

  /**
   * The same for a statement that each connection plans once: planning a join by keys costs more than running it.
   * @param name unique among prepared statements; its columns are named, since a plan outlives a column that is added
   */
  prepared<Row>(name: string, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    return this.send({ name, text: sql, values: parameters as unknown[] });
  }

  private async send<Row>(statement: string | TimedQuery, values?: unknown[]): Promise<Row[]> {
    const transaction = this.open.current;
    if (transaction === undefined) return this.sendAlone(statement, values);
    const connection = (await transaction.runner.connect()) as PoolClient;
    const { rows } = await connection.query(timed(statement, transaction.patienceMs), values);
    return rows as Row[];
  }

  private async sendAlone<Row>(statement: string | TimedQuery, values?: unknown[]): Promise<Row[]> {
    try {
      const { rows } = await this.pool.query(statement, values);
      this.outage.answered();
      return rows as Row[];
    } catch (error) {
      this.outage.failed(error);
      throw error;
    }
  }

  /**
   * Asks the database for a lock, and so whether it takes writes.
   * @param timeoutMs for its answer, once there is a connection
   * @throws {Error} when it does not answer, or takes none
   */
  async requireWritable(timeoutMs: number): Promise<void> {
    await this.sendAlone({ text: LOCK_NOTHING, query_timeout: timeoutMs });
  }

  /** Gives the statements of the open transaction, and their waiting for locks, more time than others have. */
  async allowLongWork(limits: {
    readonly statementMs: number;
    readonly lockMs?: number;
  }): Promise<void> {
    const transaction = this.open.current;
    if (transaction === undefined) throw new Error('This must run inside a transaction.');
    transaction.patienceMs = limits.statementMs + ANSWER_SLACK_MS;
    await this.query(`SET LOCAL statement_timeout = ${limits.statementMs}`);
    if (limits.lockMs !== undefined) await this.query(`SET LOCAL lock_timeout = ${limits.lockMs}`);
  }

  /**
   * Runs reads that all see the database as it was at one moment.
   * @throws {Error} a defect of the caller: a transaction is open, which may have seen another
   */
  snapshot<Result>(reads: () => Promise<Result>): Promise<Result> {
    this.refuseTransaction('A snapshot');
    return this.transaction(async () => {
      await this.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      return reads();
    });
  }

  /**
   * Writes rows by COPY, in the open transaction.
   * @param target the table and its columns, in SQL
   * @param rows in the text format of COPY
   */
  async copy(target: string, rows: Buffer): Promise<void> {
    const transaction = this.open.current;
    if (transaction === undefined) throw new Error('This must run inside a transaction.');
    const connection = (await transaction.runner.connect()) as PoolClient;
    await copyIn(connection, `COPY ${target} FROM STDIN`, rows, transaction.patienceMs);
  }

  /**
   * Rows of an entity, as TypeORM would return them, at a fraction of its cost.
   * @param tail what follows FROM, in SQL: condition, order, lock
   */
  async select<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    tail: string,
    parameters: readonly unknown[],
  ): Promise<Entity[]> {
    const entitySql = this.sqlOf(entity);
    return entitySql.toEntities(await this.query(entitySql.select(tail), parameters));
  }

  /** The first of such rows, or null. */
  async selectOne<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    tail: string,
    parameters: readonly unknown[],
  ): Promise<Entity | null> {
    const [row] = await this.select(entity, tail, parameters);
    return row ?? null;
  }

  /**
   * Changes a row of an entity and returns it as it is then, or null when no row fits.
   * @param tail what follows UPDATE and the table, in SQL: columns and condition
   */
  async updateOne<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    tail: string,
    parameters: readonly unknown[],
  ): Promise<Entity | null> {
    const entitySql = this.sqlOf(entity);
    const rows = await this.query<Record<string, unknown>>(
      entitySql.updateReturning(tail),
      parameters,
    );
    return entitySql.toEntities(rows)[0] ?? null;
  }

  /** TypeORM's repository of an entity, bound to the open transaction if there is one. */
  repository<Entity extends ObjectLiteral>(entity: EntityTarget<Entity>): Repository<Entity> {
    return this.manager.getRepository(entity);
  }

  /** Writes a new row; every column is given, or has a default. */
  async insert<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    row: Entity,
  ): Promise<void> {
    await this.insertPrepared(this.sqlOf(entity).insert(row));
  }

  /** Writes new rows with one statement; every column that one of them gives, all give. */
  async insertMany<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    rows: readonly Entity[],
  ): Promise<void> {
    if (rows.length === 0) return;
    await this.insertPrepared(this.sqlOf(entity).insertMany(rows));
  }

  /** Writes columns of many rows with one statement; every column that one of them gives, all give. */
  async updateMany<Entity extends ObjectLiteral & { readonly id: string }>(
    entity: EntityTarget<Entity>,
    rows: readonly (Partial<Entity> & { readonly id: string })[],
  ): Promise<void> {
    if (rows.length === 0) return;
    const { sql, parameters } = this.sqlOf(entity).updateMany(rows);
    await this.query(sql, parameters);
  }

  /** Writes the columns given to the row with this id. */
  async update<Entity extends ObjectLiteral & { readonly id: string }>(
    entity: EntityTarget<Entity>,
    id: string,
    columns: Partial<Entity>,
  ): Promise<void> {
    const { sql, parameters } = this.sqlOf(entity).update(id, columns);
    await this.query(sql, parameters);
  }

  /**
   * Throws unless a transaction is open: for writes that are only right together with others.
   * @throws {Error} a defect of the caller
   */
  requireTransaction(): void {
    if (this.open.current === undefined) throw new Error('This must run inside a transaction.');
  }

  /**
   * Throws when a transaction is open: for calls to the outside, which would hold its locks for as long as they take.
   * @throws {Error} a defect of the caller
   */
  refuseTransaction(what: string): void {
    if (this.open.current !== undefined) {
      throw new Error(`${what} must not run inside a transaction.`);
    }
  }

  /** Whether a query of this call would run inside a transaction. */
  get isInTransaction(): boolean {
    return this.open.current !== undefined;
  }

  /** Calls back once the open transaction has committed; never if it rolls back. */
  afterCommit(callback: () => void): void {
    const transaction = this.open.current;
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
    return this.open.current?.runner.manager ?? this.dataSource.manager;
  }

  /**
   * Only inserts are prepared for every entity: the plan of a statement that finds rows is for tables as large as they were
   * when it was made, and a new table grows faster than it is analysed.
   */
  private async insertPrepared({ sql, parameters }: Statement): Promise<void> {
    const name = this.insertNames.get(sql) ?? `insert_${this.insertNames.size + 1}`;
    this.insertNames.set(sql, name);
    await this.prepared(name, sql, parameters);
  }

  private get pool(): Pool {
    return (this.dataSource.driver as PostgresDriver).master as Pool;
  }

  private sqlOf<Entity extends ObjectLiteral>(entity: EntityTarget<Entity>): EntitySql<Entity> {
    const known = this.entitySql.get(entity);
    if (known !== undefined) return known as unknown as EntitySql<Entity>;
    const made = new EntitySql<Entity>(this.dataSource.getMetadata(entity));
    this.entitySql.set(entity, made);
    return made;
  }
}

async function retrying<Result>(tries: number, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= tries || !isWorthRetrying(error)) throw error;
    }
  }
}
