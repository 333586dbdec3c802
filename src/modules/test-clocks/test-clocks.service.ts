import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { nextVersion } from '../../core/next-version';
import { AuditTrail } from '../../platform/audit';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { raise, referenceNotFound } from '../../platform/errors';
import { type Answer, Idempotency } from '../../platform/idempotency';
import { newId } from '../../platform/ids';
import { AbandonedWork, ProcessSession } from '../../platform/processes';
import {
  advanceRefusal,
  isBeingMoved,
  newLease,
  type TestClock,
  type TestClockStatus,
} from './domain/test-clock';
import { DELETION_WORK } from './delete-test-clock.service';
import { isTemporaryFailure } from './temporary-failure';
import { type TestClockJob, TestClockParticipants } from './test-clock-participants';
import {
  testClockAdvancing,
  testClockCannotReach,
  testClockFailed,
  testClockNotFound,
} from './test-clocks.errors';
import { TestClocksRepository } from './test-clocks.repository';

export interface NextWork {
  readonly dueAt: Date;
  readonly jobs: readonly TestClockJob['name'][];
}

type ToAnswer = (clock: TestClock) => Answer;

/**
 * Timeouts of the transaction that begins an advance. They are long, because the transaction waits for the lock of the
 * clock. Transactions that use the time of the clock can get their lock first, even if they begin later.
 */
const BEGIN_TIMEOUTS = { statementMs: 30_000, lockMs: 25_000 } as const;

const RETRY_MS = 1_000;
/**
 * Maximum number of attempts, one per second, to end an advance that failed. After this time, its lease has ended by
 * itself.
 */
const MAX_TRIES = 60;

@Injectable()
export class TestClocksService implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('test-clocks');
  private stopping = false;

  constructor(
    private readonly database: Database,
    private readonly clocks: TestClocksRepository,
    private readonly participants: TestClockParticipants,
    private readonly abandonedWork: AbandonedWork,
    private readonly session: ProcessSession,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * Registers the leases of test clocks, so that the leases of dead processes end early. Then the next call of
   * `advance` can continue an interrupted advance, and background work can continue an interrupted deletion.
   */
  onModuleInit(): void {
    const leases = { table: 'test_clock', leaseColumn: 'lease_ends_at' };
    this.abandonedWork.register({ ...leases, work: DELETION_WORK });
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  async create(name: string, instant: Date): Promise<TestClock> {
    const now = this.clock.now();
    const testClock: TestClock = {
      id: newId('clock'),
      version: 1,
      name,
      instant,
      status: 'ready',
      targetAt: null,
      leaseEndsAt: null,
      leasedBy: null,
      createdAt: now,
      updatedAt: now,
    };
    await this.database.transaction(async () => {
      await this.clocks.insert(testClock);
      await this.recordChange(testClock.id, 'created', {
        name,
        now: instant.toISOString(),
      });
    });
    return testClock;
  }

  /** @throws {ProblemError} `test_clock_not_found` */
  async get(id: string): Promise<TestClock> {
    return (await this.clocks.find(id)) ?? raise(testClockNotFound(id));
  }

  /**
   * Returns the time at which the next work falls due, with the names of all jobs that are due by then. Overdue work
   * counts as due at the current time of the clock. Null when nothing is planned.
   * @throws {ProblemError} `test_clock_not_found`
   */
  async next(id: string): Promise<NextWork | null> {
    const { instant } = await this.get(id);
    const planned = await this.participants.plannedJobs(id);
    const [first] = planned;
    if (first === undefined) return null;
    const dueAt = first.dueAt > instant ? first.dueAt : instant;
    const due = planned.filter((one) => one.dueAt <= dueAt);
    return { dueAt, jobs: due.map(({ job }) => job.name) };
  }

  list(request: PageRequest): Promise<Page<TestClock>> {
    return this.clocks.page(request);
  }

  /**
   * Returns the clock to which a field of a request refers. The clock cannot be moved or deleted until the transaction
   * ends.
   * @param pointer JSON pointer to the field
   * @throws {ProblemError} `reference_not_found`
   */
  async requireForReference(id: string, pointer: string): Promise<TestClock> {
    return (await this.clocks.lock(id, 'reference')) ?? raise(referenceNotFound(pointer, id));
  }

  /**
   * Returns the time of a test clock, or real time. The clock cannot move until the caller's transaction ends.
   * @param testClockId null for real time
   * @throws {ProblemError} `test_clock_not_found` if the clock was deleted, `test_clock_advancing`, `test_clock_failed`
   */
  async nowFor(testClockId: string | null): Promise<Date> {
    if (testClockId === null) return this.clock.now();
    const found =
      (await this.clocks.lock(testClockId, 'reference')) ?? raise(testClockNotFound(testClockId));
    if (found.status === 'advancing') throw testClockAdvancing(testClockId);
    if (found.status === 'failed') throw testClockFailed(testClockId);
    return found.instant;
  }

  /**
   * Returns the current times of test clocks, by id.
   * @param which `all` includes deleted clocks with customers that are not purged yet
   */
  async instantsOf(
    ids: readonly string[],
    which: 'all' | 'omit-deleted',
  ): Promise<ReadonlyMap<string, Date>> {
    if (ids.length === 0) return new Map();
    const clocks = await this.clocks.findAll(ids, which);
    return new Map(clocks.map(({ id, instant }) => [id, instant]));
  }

  /**
   * Returns the time of a test clock, or real time, without locking the clock. Also works while the clock is advancing,
   * and after its advance failed. For reads, and for input that cannot be refused, such as the outcome of a payment.
   * @param testClockId null for real time
   * @throws {ProblemError} `test_clock_not_found` if the clock is deleted
   */
  async timeOn(testClockId: string | null): Promise<Date> {
    if (testClockId === null) return this.clock.now();
    const found = (await this.clocks.find(testClockId)) ?? raise(testClockNotFound(testClockId));
    return found.instant;
  }

  /**
   * Advances a clock and runs the jobs that fall due on the way, earliest first. Each job runs in its own commits, with
   * the clock set to the time at which the job is due. After a crash or an outage, a call with the same target
   * continues the advance.
   *
   * The first transaction claims the idempotency key of the request, and the last one stores the answer. If the lease
   * ends and another call takes over the advance, this call no longer changes the clock, and throws
   * `test_clock_advancing`.
   * @throws {ProblemError} `test_clock_not_found`, `test_clock_cannot_reach`, `test_clock_advancing`,
   *   `test_clock_failed`
   */
  async advance(id: string, to: Date, toAnswer: ToAnswer): Promise<TestClock> {
    const leasedBy = await this.session.requireNumber();
    // Releases the leases of dead processes, so that their payments and refunds are completed before the clock moves.
    await this.abandonedWork.runDue();
    let held = await this.database.transaction(async () => {
      const begun = await this.begin(id, to, leasedBy);
      await this.recordChange(id, 'advanced', { to: to.toISOString() });
      return begun;
    });
    const keepLease = async () => {
      held = (await this.moveTo(held, held.instant)) ?? raise(testClockAdvancing(id));
    };
    try {
      for (;;) {
        const next = await this.participants.nextJob(id);
        if (next === null || next.dueAt > to) break;
        const moved = await this.moveTo(held, next.dueAt);
        // Another call has taken over the advance, or the clock was deleted. `complete` then changes nothing and
        // throws.
        if (moved === null) break;
        held = moved;
        await next.job.runDue(id, held.instant, keepLease);
      }
    } catch (error) {
      this.logger.error(
        { err: error, test_clock_id: id },
        'due work failed while a test clock was advancing',
      );
      if (isTemporaryFailure(error)) {
        await this.interrupt(held, 'advancing', to);
        throw error;
      }
      await this.interrupt(held, 'failed', to);
      throw testClockFailed(id);
    }
    return this.complete(held, to, toAnswer);
  }

  /** Records a change in the audit log, because test clocks have no events. */
  private recordChange(
    id: string,
    change: 'created' | 'advanced',
    fields: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    return this.audit.record({ action: `test_clock.${change}`, objectId: id, fields });
  }

  private async begin(id: string, to: Date, leasedBy: number): Promise<TestClock> {
    await this.database.setTransactionTimeouts(BEGIN_TIMEOUTS);
    const clock = (await this.clocks.lock(id, 'move')) ?? raise(testClockNotFound(id));
    const now = this.clock.now();
    // Releases the key that an interrupted advance left without an answer.
    if (!isBeingMoved(clock, now)) await this.idempotency.releaseFor([id]);
    await this.idempotency.claimFor(id);
    switch (advanceRefusal(clock, to, now)) {
      case 'failed':
        throw testClockFailed(id);
      case 'busy':
      case 'other_target':
        throw testClockAdvancing(id);
      case 'backwards':
      case 'too_far':
        throw testClockCannotReach(id, clock.instant.toISOString());
      case null: {
        const lease = newLease(now, leasedBy);
        const begun = nextVersion(clock, now, { status: 'advancing', targetAt: to, ...lease });
        await this.clocks.update(begun);
        return begun;
      }
    }
  }

  /**
   * Moves the clock to the due time of a job. If the job is overdue, the clock keeps its time. Returns null if another
   * call has taken over the advance, or if the clock was deleted.
   */
  private async moveTo(held: TestClock, dueAt: Date): Promise<TestClock | null> {
    const leasedBy = await this.session.requireNumber();
    const now = this.clock.now();
    return this.clocks.move(held, dueAt, now, newLease(now, leasedBy));
  }

  private complete(held: TestClock, to: Date, toAnswer: ToAnswer): Promise<TestClock> {
    return this.database.transaction(async () => {
      const ended = await this.end(held, 'ready', to);
      await this.idempotency.completeFor(held.id, toAnswer(ended));
      return ended;
    });
  }

  /**
   * Ends an advance that failed. If the database fails here too, tries again in the background. Also throws the error
   * of the database, because nothing is stored yet.
   */
  private async interrupt(
    held: TestClock,
    status: 'advancing' | 'failed',
    to: Date,
  ): Promise<void> {
    try {
      await this.tryToInterrupt(held, status, to);
    } catch (error) {
      if (isTemporaryFailure(error)) {
        const ids = { err: error, test_clock_id: held.id };
        this.logger.warn(ids, 'the lease of a test clock was not given back');
        void this.interruptLater(held, status, to);
      }
      throw error;
    }
  }

  private async interruptLater(
    held: TestClock,
    status: 'advancing' | 'failed',
    to: Date,
  ): Promise<void> {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      await sleep(RETRY_MS, undefined, { ref: false });
      if (this.stopping) return;
      try {
        await this.tryToInterrupt(held, status, to);
        return;
      } catch (error) {
        // Any other error means that another call has taken over the advance, or that the clock was deleted.
        if (!isTemporaryFailure(error)) return;
      }
    }
  }

  private tryToInterrupt(held: TestClock, status: 'advancing' | 'failed', to: Date): Promise<void> {
    return this.database.transaction(async () => {
      await this.end(held, status, to);
      await this.idempotency.releaseFor([held.id]);
    });
  }

  /** @throws {ProblemError} `test_clock_advancing` if another call took over the advance, `test_clock_not_found` */
  private async end(held: TestClock, status: TestClockStatus, to: Date): Promise<TestClock> {
    const ended = await this.clocks.end(held, status, to, this.clock.now());
    if (ended !== null) return ended;
    await this.get(held.id);
    throw testClockAdvancing(held.id);
  }
}
