import { Injectable, Logger } from '@nestjs/common';
import { Counter } from 'prom-client';
import { Clock } from '../../platform/clock';
import { isRefusal, ProblemError } from '../../platform/errors';
import { Jobs, runAsBatch } from '../../platform/jobs';
import { Metrics } from '../../platform/observability';
import { Claims } from '../../platform/processes';
import { type DueRow, DueRowsRepository, type DueTable, nextDueOnSql } from './due-rows.repository';
import { postponedUntil } from './postpone';
import { type TestClockJob, TestClockParticipants } from './test-clock-participants';

/** Maximum number of rows that are claimed at once, if the queue does not set `maxRows`. */
const MAX_CLAIMED_ROWS = 50;
const IDLE_MS = 1_000;
const LEASE_MS = 60_000;

type Batches<Row> = readonly (readonly Row[])[];

/**
 * Background work on the rows of a table, each of which falls due at its own time. Rows on no test clock are processed
 * when they are due in real time. Rows on a test clock are processed while the clock advances.
 */
export interface DueQueue<Row extends DueRow> {
  readonly name: TestClockJob['name'];
  readonly rows: DueTable<Row>;
  readonly maxRows?: number;
  /** Does the work of all given rows in one commit. If it throws, nothing of this work is done. */
  readonly run: (rows: readonly Row[], now: Date) => Promise<void>;
  /** Returns true while work that is due in real time must wait. Does not affect work on test clocks. */
  readonly isHeld?: () => Promise<boolean>;
  /**
   * Divides two or more rows into batches, which run one after the other. If absent, all rows are one batch. If it
   * throws, each row is a batch.
   */
  readonly batchesOf?: (rows: readonly Row[]) => Batches<Row> | Promise<Batches<Row>>;
  /**
   * Reaction when a rule refuses work on a test clock. `postpone`: the work is tried again a day later on the clock.
   * `fail`: the advance of the clock stops, as after any other error.
   */
  readonly whenRefused: 'postpone' | 'fail';
  /** Records the error code when a rule refuses the work on a row. Called at each refused attempt. */
  readonly recordRefusal?: (row: Row, code: string, now: Date) => Promise<void>;
}

/** Runs due work in the background, and on test clocks while they advance. */
@Injectable()
export class DueQueues {
  private readonly logger = new Logger('due-queues');
  private readonly failures: Counter<'work' | 'reason'>;

  constructor(
    private readonly jobs: Jobs,
    private readonly claims: Claims,
    private readonly testClocks: TestClockParticipants,
    private readonly clock: Clock,
    private readonly due: DueRowsRepository,
    { registry }: Metrics,
  ) {
    this.failures = new Counter({
      name: 'due_work_failures_total',
      help: 'Due work of single objects that failed and is tried again, by the code of its refusal.',
      labelNames: ['work', 'reason'],
      registers: [registry],
    });
  }

  /** Registers a queue. Must be called while the module that owns the queue starts. */
  register<Row extends DueRow>(queue: DueQueue<Row>): void {
    const { name, rows } = queue;
    this.jobs.register({
      name,
      idleMs: IDLE_MS,
      runDue: async () => !(await queue.isHeld?.()) && this.runDue(queue),
      waiting: { table: rows.table, dueAt: rows.dueColumn, where: 'test_clock_id IS NULL' },
    });
    this.claims.register({ work: name, table: rows.table, leaseColumn: 'lease_ends_at' });
    this.testClocks.registerJob({
      name,
      nextDue: nextDueOnSql(rows),
      runDue: (testClockId, now) => this.runDueOn(queue, testClockId, now),
    });
  }

  /**
   * Claims rows that are due in real time and does their work. Returns true if more rows may be due. If a batch fails,
   * the work of each row is tried in a commit of its own. If that fails too, the row is retried after its lease has
   * ended.
   */
  async runDue<Row extends DueRow>(queue: DueQueue<Row>): Promise<boolean> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const { maxRows = MAX_CLAIMED_ROWS } = queue;
    const rows = await this.claims.claim(queue.name, leaseEndsAt, () =>
      this.due.claim(queue.rows, now, leaseEndsAt, maxRows),
    );
    // Reads the clock again for each attempt. A claimed row may have been written after `now`, and former attempts may
    // have waited for locks.
    const readClock = () => this.clock.now();
    await this.run(queue, rows, readClock, (error, { id }) => {
      this.logger.error({ err: error, work: queue.name, id }, 'due work failed');
    });
    return rows.length > 0;
  }

  /**
   * Does the work of up to `maxRows` rows that are due on a test clock. A defect stops the advance of the clock. If a
   * rule refuses work, the work is postponed or the advance stops, depending on `whenRefused` of the queue.
   */
  private async runDueOn<Row extends DueRow>(
    queue: DueQueue<Row>,
    testClockId: string,
    now: Date,
  ): Promise<void> {
    const { maxRows = MAX_CLAIMED_ROWS } = queue;
    const rows = await this.due.findDueOnTestClock(queue.rows, testClockId, now, maxRows);
    const readClock = () => now;
    await this.run(queue, rows, readClock, async (error, { id }) => {
      if (queue.whenRefused === 'fail') throw error;
      const until = postponedUntil(error, now);
      this.logger.error(
        { err: error, work: queue.name, id, until },
        'due work was refused and is postponed',
      );
      await this.due.postpone(queue.rows, id, until);
    });
  }

  /** Counts a failure of due work on one object, which will be tried again. Returns the reason: an error code. */
  countFailure(work: string, error: unknown): string {
    const reason = error instanceof ProblemError ? error.definition.code : 'internal_error';
    this.failures.inc({ work, reason });
    return reason;
  }

  private async run<Row extends DueRow>(
    queue: DueQueue<Row>,
    rows: readonly Row[],
    readClock: () => Date,
    onItemFailure: (error: unknown, row: Row) => void | Promise<void>,
  ): Promise<void> {
    for (const batch of await this.divide(queue, rows)) {
      await runAsBatch(batch, (some) => queue.run(some, readClock()), {
        onBatchFailure: (error) => {
          this.logger.warn(
            { err: error, work: queue.name, items: batch.length },
            'due work failed together, and is done one by one',
          );
        },
        onItemFailure: async (error, row) => {
          const reason = this.countFailure(queue.name, error);
          if (isRefusal(error)) await this.recordRefusal(queue, row, reason, readClock());
          await onItemFailure(error, row);
        },
      });
    }
  }

  /**
   * Divides rows into batches. If this fails, each row is a batch, so that one damaged row does not stop the work on
   * others.
   */
  private async divide<Row extends DueRow>(
    { name, batchesOf }: DueQueue<Row>,
    rows: readonly Row[],
  ): Promise<Batches<Row>> {
    if (batchesOf === undefined || rows.length < 2) return [rows];
    try {
      return await batchesOf(rows);
    } catch (error) {
      const text = 'due work could not be divided, and is done one by one';
      this.logger.warn({ err: error, work: name, items: rows.length }, text);
      return rows.map((row) => [row]);
    }
  }

  /**
   * Records why the work on a row was refused. If the recording fails, other rows are still processed, and the next
   * attempt records the refusal.
   */
  private async recordRefusal<Row extends DueRow>(
    { name, recordRefusal }: DueQueue<Row>,
    row: Row,
    code: string,
    now: Date,
  ): Promise<void> {
    try {
      await recordRefusal?.(row, code, now);
    } catch (error) {
      this.logger.error({ err: error, work: name, id: row.id }, 'the refusal was not recorded');
    }
  }
}
