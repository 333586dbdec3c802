import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { AuditTrail } from '../../platform/audit';
import { BoundedMap } from '../../platform/caching';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Idempotency } from '../../platform/idempotency';
import { Jobs } from '../../platform/jobs';
import { ProcessSession } from '../../platform/processes';
import { afterFailure, FIRST_PORTION, nextPortion } from './domain/purge-portion';
import { isBeingMoved, newLease, type TestClockLease } from './domain/test-clock';
import { isTemporaryFailure } from './temporary-failure';
import { TestClockParticipants } from './test-clock-participants';
import { testClockAdvancing, testClockNotFound } from './test-clocks.errors';
import { TestClocksRepository } from './test-clocks.repository';

export const DELETION_WORK = 'test-clock-deletions';
const EVERY_MS = 10_000;
/**
 * Maximum time for which a request purges customers. Background work then purges the rest. Shorter than the default
 * time for which a shutdown waits for requests in flight.
 */
const LONGEST_REQUEST_MS = 10_000;

/**
 * Timeouts for purging a single customer in the background. The statement timeout is long, because no purge can be
 * smaller. The lock timeout is shorter. A waiting purge may hold locks on coupons, and redemptions of these coupons by
 * other customers fail after 5 s.
 */
const SINGLE_CUSTOMER = { statementMs: 600_000, lockMs: 15_000 };

const NO_LEASE: TestClockLease = { leaseEndsAt: null, leasedBy: null };

@Injectable()
export class DeleteTestClockService implements OnModuleInit {
  private readonly logger = new Logger('test-clocks');
  /**
   * Number of customers in the next portion, by test clock. The map is limited in size, because the entry of a clock
   * stays if another process purges the last portion.
   */
  private readonly portions = new BoundedMap<string, number>(100);

  constructor(
    private readonly database: Database,
    private readonly clocks: TestClocksRepository,
    private readonly participants: TestClockParticipants,
    private readonly idempotency: Idempotency,
    private readonly jobs: Jobs,
    private readonly session: ProcessSession,
    private readonly clock: Clock,
    private readonly audit: AuditTrail,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: DELETION_WORK, idleMs: EVERY_MS, runDue: () => this.runDue() });
  }

  /**
   * Marks a clock as deleted, so that requests no longer find it. Then purges its customers with all their data
   * (billing, ledger, events and deliveries) in several commits. Other customers are not affected. After a crash or a
   * failure of the database, or if the request takes longer than ten seconds, background work continues the purge.
   * @throws {ProblemError} `test_clock_not_found`, `test_clock_advancing`
   */
  async delete(id: string): Promise<void> {
    const lease = await this.lease(this.clock.now());
    await this.database.transaction(async () => {
      // Waits for commands that use the clock, because they hold its lock.
      const clock = await this.clocks.lock(id, 'move');
      if (clock === null) throw testClockNotFound(id);
      const now = this.clock.now();
      if (isBeingMoved(clock, now)) throw testClockAdvancing(id);
      await this.clocks.markDeleted(id, now, lease);
      // Releases the key of an interrupted advance, which cannot continue any more.
      await this.idempotency.releaseFor([id]);
      const purged = await this.participants.countCustomers(id);
      await this.audit.record({
        action: 'test_clock.deleted',
        objectId: id,
        fields: { purged_customers: purged },
      });
    });
    try {
      await this.purge(id, lease);
    } catch (error) {
      if (!isTemporaryFailure(error)) throw error;
      this.logger.warn(
        { err: error, test_clock_id: id },
        'background work purges a test clock, because a portion failed',
      );
    }
  }

  /**
   * Purges one portion (a group of customers) of an interrupted deletion. Returns true if there may be more. If a
   * portion fails, deletions of other clocks come first. When the lease of the failed deletion has ended, a smaller
   * portion is tried.
   */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const held = await this.lease(now);
    const id = await this.clocks.claimDeleted(now, held);
    if (id === null) return false;
    await this.purgePortion(id, held, NO_LEASE);
    return true;
  }

  private async purge(id: string, lease: TestClockLease): Promise<void> {
    const endsAt = performance.now() + LONGEST_REQUEST_MS;
    let held = lease;
    try {
      while (performance.now() < endsAt) {
        const next = await this.lease(this.clock.now());
        if (!(await this.purgePortion(id, held, next))) return;
        held = next;
      }
    } finally {
      await this.clocks.renewLease(id, held, NO_LEASE);
      this.jobs.wake(DELETION_WORK);
    }
  }

  /**
   * Purges a portion of the customers. If no customer is left, deletes the row of the clock. First locks the customers,
   * then the row of the clock, in the order of other commands. The lock on the row keeps other processes from claiming
   * the deletion, even if the portion takes longer than the lease. Before it deletes data, replaces the lease `held` by
   * `next` ({@link NO_LEASE} in background work). Determines the size of the next portion, also after a failure.
   * @returns false if the clock is deleted, or if another process has taken over the deletion
   */
  private async purgePortion(
    id: string,
    held: TestClockLease,
    next: TestClockLease,
  ): Promise<boolean> {
    const size = this.portionOf(id);
    const startedAt = performance.now();
    const outcome = await this.database.transaction(async () => {
      const customerIds = await this.participants.lockCustomers(id, size);
      if (!(await this.clocks.renewLease(id, held, next))) return 'taken_over';
      if (customerIds.length === 0) {
        await this.clocks.delete(id);
        return 'deleted';
      }
      this.portions.set(id, afterFailure(customerIds.length));
      const isInBackground = next === NO_LEASE;
      if (customerIds.length === 1 && isInBackground) {
        await this.database.setTransactionTimeouts(SINGLE_CUSTOMER);
      }
      await this.participants.purge(customerIds);
      return 'purged';
    });
    if (outcome === 'purged')
      this.portions.set(id, nextPortion(size, performance.now() - startedAt));
    if (outcome === 'deleted') this.portions.delete(id);
    return outcome === 'purged';
  }

  private portionOf(id: string): number {
    return this.portions.get(id) ?? FIRST_PORTION;
  }

  private async lease(now: Date): Promise<TestClockLease> {
    return newLease(now, await this.session.requireNumber());
  }
}
