import { Injectable } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Idempotency } from '../../platform/idempotency';
import { EventLog } from '../../platform/outbox';
import { DueRowsRepository } from './due-rows.repository';

/** Names of the jobs that run on test clocks. Jobs that fall due at the same instant run in this order. */
const TEST_CLOCK_JOBS = [
  'due-payments',
  'due-refunds',
  'overdue-invoices',
  'due-subscriptions',
  'due-drafts',
  'due-late-usage',
  'due-collections',
  'entitlement-windows',
] as const;

export type KeepLease = () => Promise<void>;

/** Background work that also runs while a test clock advances. Each run processes only the objects on one clock. */
export interface TestClockJob {
  readonly name: (typeof TEST_CLOCK_JOBS)[number];
  /** SQL that selects one value: the time at which the next object on the clock `$1` is due; null if there is none. */
  readonly nextDue: string;
  /**
   * Processes objects on the clock that are due at `now`, the time that the clock shows. Need not process all of them,
   * because an advance calls this function again until no object is due.
   * @param keepLease renews the lease on the clock; call it before each part of long work. It throws if another call
   *   has taken over the advance
   */
  readonly runDue: (testClockId: string, now: Date, keepLease: KeepLease) => Promise<void>;
}

export interface PlannedJob {
  readonly job: TestClockJob;
  readonly dueAt: Date;
}

type LastStatement = () => Promise<unknown>;

/** Deletes the data that one module keeps about customers, when their test clock is deleted. */
export interface TestClockPurge {
  /** Name in kebab-case, unique among all purges. */
  readonly name: string;
  /**
   * Deletes the data in the caller's transaction. Returns the ids of the deleted objects that have events, or that can
   * be created by requests with an idempotency key.
   * @param runLast adds a statement that runs after all deletions. Use it to change rows that other customers use. A
   *   changed row is locked until the commit, and the deletions can take ten minutes.
   */
  readonly purge: (
    customerIds: readonly string[],
    runLast: (statement: LastStatement) => void,
  ) => Promise<readonly string[]>;
}

/**
 * Counts, locks and purges the customers on a test clock. When `purge` is called, all data that refers to the customers
 * has already been deleted.
 */
export interface TestClockCustomers {
  readonly count: (testClockId: string) => Promise<number>;
  /**
   * Locks up to `limit` customers on the clock until the transaction ends, so that no new row can refer to them.
   * Includes deleted customers. Returns their ids.
   */
  readonly lock: (testClockId: string, limit: number) => Promise<readonly string[]>;
  readonly purge: (customerIds: readonly string[]) => Promise<void>;
}

/**
 * Registry of the work that runs while a clock advances, and of the purges that run when a clock is deleted. Modules
 * register their work and purges when the application starts.
 */
@Injectable()
export class TestClockParticipants {
  private readonly jobs = new Map<TestClockJob['name'], TestClockJob>();
  private readonly purges: TestClockPurge[] = [];
  private customers: TestClockCustomers | null = null;

  constructor(
    private readonly due: DueRowsRepository,
    private readonly events: EventLog,
    private readonly idempotency: Idempotency,
  ) {}

  registerJob(job: TestClockJob): void {
    this.jobs.set(job.name, job);
  }

  registerPurge(purge: TestClockPurge): void {
    this.purges.push(purge);
  }

  registerCustomers(customers: TestClockCustomers): void {
    this.customers = customers;
  }

  /** Returns the jobs with planned work on the clock and when each falls due, in the order in which they would run. */
  async plannedJobs(testClockId: string): Promise<readonly PlannedJob[]> {
    const jobs = TEST_CLOCK_JOBS.flatMap((name) => this.jobs.get(name) ?? []);
    const next = await this.due.nextDueOnTestClock(jobs, testClockId);
    const planned = jobs.flatMap((job) => {
      const dueAt = next?.[job.name] ?? null;
      return dueAt === null ? [] : { job, dueAt };
    });
    return planned.sort((one, other) => one.dueAt.getTime() - other.dueAt.getTime());
  }

  /** Returns the job that falls due first on the clock; null when nothing is planned. */
  async nextJob(testClockId: string): Promise<PlannedJob | null> {
    return (await this.plannedJobs(testClockId))[0] ?? null;
  }

  /** Returns the number of customers on the clock, deleted ones included. */
  countCustomers(testClockId: string): Promise<number> {
    return this.registeredCustomers.count(testClockId);
  }

  lockCustomers(testClockId: string, limit: number): Promise<readonly string[]> {
    return this.registeredCustomers.lock(testClockId, limit);
  }

  /**
   * Deletes the customers and all data about them, including events, in the caller's transaction. Releases the
   * idempotency keys of unanswered requests about the deleted objects, because these requests cannot end any more.
   */
  async purge(customerIds: readonly string[]): Promise<void> {
    const purged = [...customerIds];
    const last: LastStatement[] = [];
    // Modules register from the lowest layer up. The reverse order deletes referring rows before the rows they refer
    // to.
    for (const { purge } of [...this.purges].reverse()) {
      const ids = await purge(customerIds, (statement) => last.push(statement));
      for (const id of ids) purged.push(id);
    }
    await this.registeredCustomers.purge(customerIds);
    await this.events.remove(purged, customerIds);
    await this.idempotency.releaseFor(purged);
    for (const statement of last) await statement();
  }

  private get registeredCustomers(): TestClockCustomers {
    invariant(this.customers !== null, 'the customers module has registered its purge');
    return this.customers;
  }
}
