import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { referenceNotFound } from '../../platform/errors';
import { newId } from '../../platform/ids';
import { EventLog } from '../../platform/outbox';
import {
  ADVANCING_LEASE_MS,
  advanceRefusal,
  isBeingMoved,
  type TestClock,
} from './domain/test-clock';
import { TestClockRemovals } from './test-clock-removals';
import { TestClockWorks } from './test-clock-work';
import {
  testClockAdvancing,
  testClockCannotReach,
  testClockFailed,
  testClockNotFound,
} from './test-clocks.errors';
import { TestClocksRepository } from './test-clocks.repository';

/** Clocks that tests move: whatever lives on one follows it, through the code that follows the real clock. */
@Injectable()
export class TestClocksService {
  private readonly logger = new Logger('test-clocks');

  constructor(
    private readonly database: Database,
    private readonly clocks: TestClocksRepository,
    private readonly works: TestClockWorks,
    private readonly removals: TestClockRemovals,
    private readonly events: EventLog,
    private readonly clock: Clock,
  ) {}

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
      createdAt: now,
      updatedAt: now,
    };
    await this.clocks.insert(testClock);
    return testClock;
  }

  /** @throws {ProblemError} `test_clock_not_found` */
  async get(id: string): Promise<TestClock> {
    const found = await this.clocks.find(id);
    if (found === null) throw testClockNotFound(id);
    return found;
  }

  list(request: PageRequest): Promise<Page<TestClock>> {
    return this.clocks.page(request);
  }

  /**
   * The clock that a field of a request refers to.
   * @param pointer JSON pointer to the field
   * @throws {ProblemError} `reference_not_found`
   */
  async requireForReference(id: string, pointer: string): Promise<TestClock> {
    const found = await this.clocks.lock(id, 'reference');
    if (found === null) throw referenceNotFound(pointer, id);
    return found;
  }

  /**
   * What time it is for a customer: what its test clock shows, or the real time. The clock cannot be moved until the
   * caller's transaction ends.
   * @param testClockId the customer's; null: it lives in real time
   * @throws {ProblemError} `test_clock_not_found` where it is deleted meanwhile, `test_clock_advancing`,
   *   `test_clock_failed`
   */
  async nowFor(testClockId: string | null): Promise<Date> {
    if (testClockId === null) return this.clock.now();
    const found = await this.clocks.lock(testClockId, 'reference');
    if (found === null) throw testClockNotFound(testClockId);
    if (found.status === 'advancing') throw testClockAdvancing(testClockId);
    if (found.status === 'failed') throw testClockFailed(testClockId);
    return found.instant;
  }

  /** What these clocks show. */
  async instantsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Date>> {
    if (ids.length === 0) return new Map();
    const clocks = await this.clocks.findAll(ids);
    return new Map(clocks.map(({ id, instant }) => [id, instant]));
  }

  /**
   * What time it is for what comes from outside and cannot be refused, such as the outcome of a payment: what the test
   * clock shows, also while it is moved or after it came to a halt.
   * @throws {ProblemError} `test_clock_not_found` where it is deleted meanwhile
   */
  async shownTo(testClockId: string | null): Promise<Date> {
    if (testClockId === null) return this.clock.now();
    const found = await this.clocks.find(testClockId);
    if (found === null) throw testClockNotFound(testClockId);
    return found.instant;
  }

  /**
   * Moves a clock, and runs what falls due on the way in due order, each piece in commits of its own while the clock
   * shows the instant at which it falls due. After a crash the same call goes on where the former one ended.
   * @throws {ProblemError} `test_clock_not_found`, `test_clock_cannot_reach`, `test_clock_advancing`, `test_clock_failed`
   */
  async advance(id: string, to: Date): Promise<TestClock> {
    await this.begin(id, to);
    try {
      for (;;) {
        const next = await this.works.next(id);
        if (next === null || next.dueAt > to) break;
        const { instant } = await this.show(id, next.dueAt);
        await next.work.runDue(id, instant);
      }
    } catch (error) {
      this.logger.error({ err: error, test_clock_id: id }, 'due work failed on a test clock');
      await this.end(id, 'failed', to);
      throw testClockFailed(id);
    }
    return this.end(id, 'ready', to);
  }

  /**
   * Deletes a clock with all that lives on it: customers, what they have and owe, its books, and the events and deliveries
   * that told of it. Other customers notice nothing.
   * @throws {ProblemError} `test_clock_not_found`, `test_clock_advancing`
   */
  delete(id: string): Promise<void> {
    return this.database.transaction(async () => {
      this.assertRemovable(id, await this.clocks.find(id));
      // Customers before their clock, as in every command; and those that came meanwhile.
      await this.removals.lockCustomers(id);
      this.assertRemovable(id, await this.clocks.lock(id, 'move'));
      const customerIds = await this.removals.lockCustomers(id);
      await this.events.remove(await this.removals.remove(customerIds));
      await this.clocks.delete(id);
    });
  }

  private assertRemovable(id: string, clock: TestClock | null): void {
    if (clock === null) throw testClockNotFound(id);
    if (isBeingMoved(clock, this.clock.now())) throw testClockAdvancing(id);
  }

  private begin(id: string, to: Date): Promise<TestClock> {
    return this.change(id, (clock, now) => {
      switch (advanceRefusal(clock, to, now)) {
        case 'failed':
          throw testClockFailed(id);
        case 'busy':
        case 'other_target':
          throw testClockAdvancing(id);
        case 'backwards':
        case 'too_far':
          throw testClockCannotReach(id, clock.instant.toISOString());
        case null:
          return { ...clock, status: 'advancing', targetAt: to, leaseEndsAt: leaseEnd(now) };
      }
    });
  }

  /** Sets the clock to when something falls due; what was overdue already is done at the time it shows. */
  private show(id: string, dueAt: Date): Promise<TestClock> {
    return this.change(id, (clock, now) => ({
      ...clock,
      instant: dueAt > clock.instant ? dueAt : clock.instant,
      leaseEndsAt: leaseEnd(now),
    }));
  }

  private end(id: string, status: 'ready' | 'failed', to: Date): Promise<TestClock> {
    return this.change(id, (clock) => ({
      ...clock,
      status,
      instant: status === 'ready' ? to : clock.instant,
      targetAt: status === 'ready' ? null : to,
      leaseEndsAt: null,
    }));
  }

  private change(
    id: string,
    changed: (clock: TestClock, now: Date) => TestClock,
  ): Promise<TestClock> {
    return this.database.transaction(async () => {
      const before = await this.clocks.lock(id, 'move');
      if (before === null) throw testClockNotFound(id);
      const now = this.clock.now();
      const after = { ...changed(before, now), version: before.version + 1, updatedAt: now };
      await this.clocks.update(after);
      return after;
    });
  }
}

function leaseEnd(now: Date): Date {
  return new Date(now.getTime() + ADVANCING_LEASE_MS);
}
