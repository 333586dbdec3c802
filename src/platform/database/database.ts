import { Injectable } from '@nestjs/common';
import type { Span } from '@opentelemetry/api';
import type { PoolClient } from 'pg';
import { DataSource, type EntityTarget, type ObjectLiteral, type Repository } from 'typeorm';
import { BackgroundTurns, CallScope } from '../concurrency';
import { traced } from '../tracing';
import { shareAtConnectionLimit } from './connection-limit';
import { ANSWER_SLACK_MS, keepOnlyIdleConnections } from './connection-settings';
import { abort, commit, sendAutocommit, timed, type TimedQuery } from './connections';
import { CommitTrace } from './commit-trace';
import { EntityStatements } from './entity-statements';
import { HeldConnection, type RunnerSource } from './held-connection';
import type { OpenTransaction } from './open-transaction';
import { OutageLog } from './outage-log';
import { poolOf } from './pool-use';
import { countStatements, TRANSACTION_SPAN } from './transaction-span';
import { withUndo, withRetries } from './with-retries';

type Revised = Readonly<{ id: string; version: number; updatedAt: Date }>;

const TRIES = 3;

/**
 * Gives access to the database. A transaction belongs to the asynchronous call that opened it. Every query of that call
 * runs in the transaction, without a parameter for it.
 */
@Injectable()
export class Database {
  private readonly open = new CallScope<OpenTransaction>();
  private readonly outage = new OutageLog();
  readonly commits = new CommitTrace();
  /** While requests arrive, lets background work run only one transaction or statement at a time. */
  readonly turns = new BackgroundTurns();
  private readonly entities: EntityStatements;

  constructor(private readonly dataSource: DataSource) {
    this.entities = new EntityStatements(dataSource);
    keepOnlyIdleConnections(poolOf(this.dataSource));
    shareAtConnectionLimit(poolOf(this.dataSource));
  }

  /**
   * Runs the work in a READ COMMITTED transaction and returns its result. If a transaction is open, joins it. Only the
   * outermost call commits, or rolls back if the work throws.
   * After a deadlock or a similar conflict (`isWorthRetrying`), repeats the work, up to three attempts in all. Therefore
   * the work must have no effects outside of the database. Does not repeat it if the outcome of the commit is unknown.
   * @param options.source connection pool, or held connection, to use instead of the default pool
   * @throws {OutcomeUnknownError} if the answer to the commit is lost; after any other error nothing was committed
   */
  async transaction<Result>(
    work: () => Promise<Result>,
    { source = this.dataSource }: { readonly source?: RunnerSource } = {},
  ): Promise<Result> {
    if (this.isInTransaction) return work();
    const once = () => traced(TRANSACTION_SPAN, (span) => this.runOnce(work, source, span));
    return withRetries(TRIES, () => this.turns.runPiece(once));
  }

  /** Runs work that needs a connection of its own. Then closes the connection, which drops its temporary tables. */
  async withConnection<Result>(
    work: (connection: HeldConnection) => Promise<Result>,
  ): Promise<Result> {
    this.refuseTransaction('Work with a connection of its own');
    const connection = await this.withOutageLog(poolOf(this.dataSource).connect());
    try {
      return await this.withOutageLog(work(new HeldConnection(connection, this.dataSource)));
    } finally {
      connection.release(true);
    }
  }

  /**
   * Runs a statement outside of a transaction. After a deadlock or a similar conflict (`isWorthRetrying`), repeats it,
   * up to three attempts in all.
   */
  autocommit<Result>(statement: () => Promise<Result>): Promise<Result> {
    this.refuseTransaction('A commit of its own');
    return withRetries(TRIES, statement);
  }

  /**
   * Runs a part of the open transaction under a savepoint. After a deadlock or a similar conflict (`isWorthRetrying`),
   * rolls the part back, which releases its locks, and repeats it, up to three attempts in all. If the part reads
   * damaged data, rolls the part back and throws. Throws any other error without a rollback.
   */
  async savepoint<Result>(work: () => Promise<Result>): Promise<Result> {
    this.requireTransaction();
    await this.query('SAVEPOINT part');
    const undo = (): Promise<unknown> => this.query('ROLLBACK TO SAVEPOINT part');
    const result = await withRetries(TRIES, () => withUndo(work(), undo));
    await this.query('RELEASE SAVEPOINT part');
    return result;
  }

  /**
   * Runs a part of the open transaction, rolls the part back, and returns its result. The rollback releases the locks
   * of the part and drops its `afterCommit` callbacks. An error of the part is thrown without a rollback.
   */
  async rolledBack<Result>(work: () => Promise<Result>): Promise<Result> {
    const part: OpenTransaction = { ...this.requiredTransaction(), afterCommit: [] };
    await this.query('SAVEPOINT undone');
    const result = await this.open.run(part, work);
    await this.query('ROLLBACK TO SAVEPOINT undone');
    return result;
  }

  private async runOnce<Result>(
    work: () => Promise<Result>,
    source: RunnerSource,
    span: Span | null,
  ): Promise<Result> {
    const runner = source.createQueryRunner();
    const transaction: OpenTransaction = { runner, afterCommit: [] };
    let result: Result;
    let endCount: (() => void) | undefined;
    const startedAt = this.outage.start();
    try {
      if (span !== null) endCount = await countStatements(runner, span);
      await runner.startTransaction();
      result = await this.open.run(transaction, work);
      await commit(runner);
      this.outage.recordAnswer();
    } catch (error) {
      this.outage.recordFailure(error, startedAt);
      await abort(runner, error);
      throw error;
    } finally {
      transaction.isOver = true;
      endCount?.();
      await runner.release();
    }
    this.commits.markCommitted();
    for (const callback of transaction.afterCommit) callback();
    return result;
  }

  query<Row>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    // Passed as two arguments, because `pg` copies a query object property by property.
    return this.send(sql, parameters as unknown[]);
  }

  /** Runs a statement with one result column, and returns its value in each row. */
  async queryValues<Value>(sql: string, parameters: readonly unknown[] = []): Promise<Value[]> {
    const rows = await this.query<Record<string, Value>>(sql, parameters);
    return rows.flatMap((row) => Object.values(row));
  }

  /** Runs a statement with one result column, and returns its value in the first row; null if there is no row. */
  async queryValue<Value>(sql: string, parameters?: readonly unknown[]): Promise<Value | null> {
    const [value] = await this.queryValues<Value>(sql, parameters);
    return value ?? null;
  }

  /**
   * Runs a prepared statement, so that each connection can cache its plan. Planning often takes longer than executing.
   * @param name unique name of the statement
   * @param sql must list columns by name, because a cached `SELECT *` fails after a migration has added a column
   */
  queryPrepared<Row>(name: string, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    return this.send({ name, text: sql, values: parameters as unknown[] });
  }

  private async send<Row>(statement: string | TimedQuery, values?: unknown[]): Promise<Row[]> {
    const transaction = this.currentTransaction;
    if (transaction === undefined) {
      const ask = () => sendAutocommit(poolOf(this.dataSource), statement, values);
      return (await this.withOutageLog(this.turns.runPiece(ask))) as Row[];
    }
    const connection = (await transaction.runner.connect()) as PoolClient;
    const { rows } = await connection.query(timed(statement, transaction.answerTimeoutMs), values);
    return rows as Row[];
  }

  withOutageLog<Result>(answer: Promise<Result>): Promise<Result> {
    return this.outage.observe(answer);
  }

  /** Sets the statement and lock timeouts of the open transaction. A `lockMs` of 0 means no limit. */
  async setTransactionTimeouts(limits: {
    readonly statementMs: number;
    readonly lockMs?: number;
  }): Promise<void> {
    const { statementMs, lockMs } = limits;
    this.requiredTransaction().answerTimeoutMs = statementMs + ANSWER_SLACK_MS;
    await this.query(`SET LOCAL statement_timeout = ${statementMs}`);
    if (lockMs !== undefined) await this.query(`SET LOCAL lock_timeout = ${lockMs}`);
  }

  /**
   * Runs reads on one snapshot of the database.
   * @param source connection pool to use instead of the default one
   * @throws {Error} if a transaction is open, which is a defect of the caller
   */
  snapshot<Result>(reads: () => Promise<Result>, source = this.dataSource): Promise<Result> {
    this.refuseTransaction('A snapshot');
    return this.transaction(
      async () => {
        await this.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
        return reads();
      },
      { source },
    );
  }

  /**
   * Returns entities as TypeORM does, but with SQL and conversions of its own, which are much faster (decision 0022).
   * @param tail SQL that follows `FROM <table>`: condition, order, lock
   * @param further SQL of columns that the returned objects have beside those of the entity
   * @throws {Error} if `tail` locks rows and no transaction is open, which is a defect of the caller
   */
  async select<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    tail: string,
    parameters: readonly unknown[],
    further?: readonly string[],
  ): Promise<Entity[]> {
    if (tail.includes(' FOR ')) this.requireTransaction();
    const entitySql = this.entities.forEntity(entity);
    return entitySql.toEntities(await this.query(entitySql.select(tail, further), parameters));
  }

  async selectOne<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    tail: string,
    parameters: readonly unknown[],
  ): Promise<Entity | null> {
    const [row] = await this.select(entity, tail, parameters);
    return row ?? null;
  }

  /** Updates a row and returns it; null if no row matches. `tail` is the SQL that follows `UPDATE <table>`. */
  async updateOne<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    tail: string,
    parameters: readonly unknown[],
  ): Promise<Entity | null> {
    const entitySql = this.entities.forEntity(entity);
    const sql = entitySql.updateReturning(tail);
    const rows = await this.query<Record<string, unknown>>(sql, parameters);
    return entitySql.toEntities(rows)[0] ?? null;
  }

  /**
   * Returns TypeORM's repository of an entity. Its statements run in the open transaction, if there is one. Use it for
   * deletions, counts and existence checks only; `select` reads entities faster.
   */
  repository<Entity extends ObjectLiteral>(entity: EntityTarget<Entity>): Repository<Entity> {
    return (this.currentTransaction?.runner ?? this.dataSource).manager.getRepository(entity);
  }

  /** Inserts a row. Columns that are undefined get their defaults. */
  async insert<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    row: Entity,
  ): Promise<void> {
    await this.queryPrepared(
      ...this.entities.preparedInsert(this.entities.forEntity(entity).insert(row)),
    );
  }

  /** Inserts rows with one statement. All rows must set the same columns. */
  async insertMany<Entity extends ObjectLiteral>(
    entity: EntityTarget<Entity>,
    rows: readonly Entity[],
  ): Promise<void> {
    if (rows.length === 0) return;
    await this.queryPrepared(
      ...this.entities.preparedInsert(this.entities.forEntity(entity).insertMany(rows)),
    );
  }

  /** Updates many rows with one statement. All rows must set the same columns. */
  async updateMany<Entity extends ObjectLiteral & { readonly id: string }>(
    entity: EntityTarget<Entity>,
    rows: readonly (Partial<Entity> & { readonly id: string })[],
  ): Promise<void> {
    if (rows.length === 0) return;
    const { sql, parameters } = this.entities.forEntity(entity).updateMany(rows);
    await this.query(sql, parameters);
  }

  async update<Entity extends ObjectLiteral & { readonly id: string }>(
    entity: EntityTarget<Entity>,
    id: string,
    columns: Partial<Entity>,
  ): Promise<void> {
    const { sql, parameters } = this.entities.forEntity(entity).update(id, columns);
    await this.query(sql, parameters);
  }

  /** Writes the given columns of a row. Also writes `version` and `updatedAt`, which the caller must have set. */
  async updateRevised<Entity extends Revised, Column extends keyof Entity & string>(
    entity: EntityTarget<Entity>,
    row: Pick<Entity, Column | keyof Revised>,
    columns: readonly Column[],
  ): Promise<void> {
    const written = [...columns, 'version', 'updatedAt'] as const;
    const values = Object.fromEntries(written.map((column) => [column, row[column]]));
    await this.update(entity, row.id, values as Partial<Entity>);
  }

  /** @throws {Error} if no transaction is open, which is a defect of the caller */
  requireTransaction(): void {
    this.requiredTransaction();
  }

  /**
   * Requires that no transaction is open. It would keep its locks, for example during an external call.
   * @param what subject of the error message, such as `A snapshot`
   * @throws {Error} if a transaction is open, which is a defect of the caller
   */
  refuseTransaction(what: string): void {
    if (this.isInTransaction) throw new Error(`${what} must not run inside a transaction.`);
  }

  get isInTransaction(): boolean {
    return this.currentTransaction !== undefined;
  }

  /** Object that identifies the open transaction, for use as a cache key. */
  get transactionIdentity(): object {
    return this.requiredTransaction();
  }

  /** Runs the callback after the open transaction has committed (not after a rollback), at once if none is open. */
  afterCommit(callback: () => void): void {
    const { currentTransaction } = this;
    if (currentTransaction === undefined) callback();
    else currentTransaction.afterCommit.push(callback);
  }

  /** URL of the database, for separate connections. Contains the password. */
  get url(): string {
    const { options } = this.dataSource;
    if (options.type !== 'postgres' || options.url === undefined) throw new Error('No URL is set.');
    return options.url;
  }

  private requiredTransaction(): OpenTransaction {
    const transaction = this.currentTransaction;
    if (transaction === undefined) throw new Error('This must run inside a transaction.');
    return transaction;
  }

  private get currentTransaction(): OpenTransaction | undefined {
    const transaction = this.open.current;
    if (transaction?.isOver !== true) return transaction;
    throw new Error('The transaction of this call has ended: something in it was not awaited.');
  }
}
