import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ConcurrencyLimiter } from '../concurrency';
import { tooManyReports } from '../errors';
import { shareAtConnectionLimit } from './connection-limit';
import { keepOnlyIdleConnections } from './connection-settings';
import { Database } from './database';
import { closeIdleConnection, poolOf } from './pool-use';
import { postgresOptionsOf } from './postgres-options';

/** Number of connections: the sum of the limits of running reports below. */
const POOL_SIZE = 10;

/** Analytics have a longer statement timeout, because they sum over all customers. */
const ANALYTICS_TIME = { statementMs: 120_000 };

/** Limits a report to one core, however large the tables are. */
const ONE_CORE = 'SET LOCAL max_parallel_workers_per_gather = 0';

export type ReportKind =
  'verification' | 'simulation' | 'proof' | 'replay' | 'summary' | 'analytics';

/** Runs reports (long reads) on a connection pool of their own, so that they do not block requests and jobs. */
@Injectable()
export class Reports implements OnApplicationShutdown {
  /**
   * One limiter per kind of report, so that reports of one kind do not block those of another. The arguments of a
   * limiter are its maximum numbers of running and of waiting reports.
   */
  private readonly limiters = {
    verification: new ConcurrencyLimiter(1, 4),
    simulation: new ConcurrencyLimiter(2, 4),
    proof: new ConcurrencyLimiter(2, 16),
    replay: new ConcurrencyLimiter(1),
    summary: new ConcurrencyLimiter(2, 16),
    analytics: new ConcurrencyLimiter(2, 16),
  };
  /** Connection pool, opened by the first report, because many processes never run a report. */
  private source: Promise<DataSource> | null = null;

  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    const source = await this.source?.catch(() => null);
    await source?.destroy();
  }

  /**
   * Runs the reads of a report on one snapshot. Waits first while the maximum number of reports of this kind is
   * running.
   * @throws {ProblemError} `too_many_reports` if the maximum number of reports of this kind is already waiting
   */
  async run<Result>(kind: ReportKind, reads: () => Promise<Result>): Promise<Result> {
    this.requireRoom(kind);
    return this.limiters[kind].run(() =>
      this.read(async () => {
        if (kind === 'analytics') await this.database.setTransactionTimeouts(ANALYTICS_TIME);
        return reads();
      }),
    );
  }

  /**
   * Runs a report that consists of one statement, and returns its rows.
   * @throws {ProblemError} `too_many_reports`
   */
  query<Row>(kind: ReportKind, sql: string, parameters: readonly unknown[]): Promise<Row[]> {
    return this.run(kind, () => this.database.query<Row>(sql, parameters));
  }

  /** Runs one step of long work in a transaction that may write. The step counts as a running report of this kind. */
  async commit<Result>(kind: ReportKind, work: () => Promise<Result>): Promise<Result> {
    this.database.refuseTransaction('A step of a report');
    this.requireRoom(kind);
    return this.limiters[kind].run(async () =>
      this.database.transaction(work, { source: await this.openSource() }),
    );
  }

  /**
   * Waits until a report that consists of several separate reads may start.
   * @returns a function to call at the end of the report
   * @throws {ProblemError} `too_many_reports`
   */
  async enter(kind: ReportKind): Promise<() => void> {
    this.requireRoom(kind);
    return this.limiters[kind].enter();
  }

  /** @throws {ProblemError} `too_many_reports` if another report of this kind could neither start nor wait */
  requireRoom(kind: ReportKind): void {
    if (this.limiters[kind].isFull) throw tooManyReports(kind);
  }

  /**
   * Runs a part of a long report as background work. While requests arrive, only one piece of background work runs at a
   * time, with a pause after each.
   */
  part<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.database.turns.runBackgroundPiece(work);
  }

  /** Runs reads on one snapshot, for a report that has already started. */
  async read<Result>(reads: () => Promise<Result>): Promise<Result> {
    const source = await this.openSource();
    return this.database.snapshot(async () => {
      await this.database.query(ONE_CORE);
      return reads();
    }, source);
  }

  /** Closes an idle connection of this pool. Returns false if none is idle. */
  async closeIdleConnection(): Promise<boolean> {
    const source = (await this.source?.catch(() => null)) ?? null;
    return source !== null && closeIdleConnection(poolOf(source));
  }

  private openSource(): Promise<DataSource> {
    this.source ??= new DataSource({ ...postgresOptionsOf(this.dataSource), poolSize: POOL_SIZE })
      .initialize()
      .then((source) => {
        keepOnlyIdleConnections(poolOf(source));
        shareAtConnectionLimit(poolOf(source));
        return source;
      })
      .catch((error: unknown) => {
        this.source = null;
        throw error;
      });
    return this.source;
  }
}
