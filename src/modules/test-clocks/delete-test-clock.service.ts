import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { AuditTrail } from '../../platform/audit';
import { BoundedMap } from '../../platform/caching';
import { Clock } from '../../platform/clock';
import { Database, isLockTimeout, isWorthRetrying } from '../../platform/database';
import { Jobs } from '../../platform/jobs';
import { EventLog } from '../../platform/outbox';
import { ProcessSession } from '../../platform/processes';
import { FIRST_PORTION, nextPortion } from './domain/purge-portion';
import { isBeingMoved, newLease, type TestClockLease } from './domain/test-clock';
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

const NO_LEASE: TestClockLease = { leaseEndsAt: null, leasedBy: null };

@Injectable()
export class DeleteTestClockService implements OnModuleInit {
  private readonly logger = new Logger('test-clocks');
  /**
   * Number of customers that the next portion of background work purges, by test clock. The size of the map is limited,
   * because the entry of a clock stays if another process purges the last portion of the clock.
   */
  private readonly portions = new BoundedMap<string, number>(100);

  constructor(
    private readonly database: Database,
    private readonly clocks: TestClocksRepository,
    private readonly participants: TestClockParticipants,
    private readonly events: EventLog,
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
   * (billing, ledger, events and deliveries) in several commits. Other customers are not affected. After a crash, a
   * deadlock or a lock timeout, or if the request takes longer than ten seconds, background work continues the purge.
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
      const purged = await this.participants.countCustomers(id);
      await this.audit.record({
        action: 'test_clock.deleted',
        objectId: id,
        fields: { purged_customers: purged },
      });
    });
    await this.purge(id, lease);
  }

  /** Purges one portion of an interrupted deletion. Returns true if there may be more. */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const held = await this.lease(now);
    const id = await this.clocks.claimDeleted(now, held);
    if (id === null) return false;
    const size = this.portions.get(id) ?? FIRST_PORTION;
    const next = await this.purgePortion(id, size, held, NO_LEASE);
    if (next === null) this.portions.delete(id);
    else this.portions.set(id, next);
    return true;
  }

  private async purge(id: string, lease: TestClockLease): Promise<void> {
    const endsAt = performance.now() + LONGEST_REQUEST_MS;
    let held = lease;
    let size: number | null = FIRST_PORTION;
    try {
      while (size !== null && performance.now() < endsAt) {
        const next = await this.lease(this.clock.now());
        size = await this.purgePortion(id, size, held, next);
        held = next;
      }
    } catch (error) {
      if (!isWorthRetrying(error) && !isLockTimeout(error)) throw error;
      this.logger.warn(
        { err: error, test_clock_id: id },
        'background work purges a test clock, because a portion was in conflict with other work',
      );
    }
    if (size === null) return;
    await this.clocks.renewLease(id, held, NO_LEASE);
    this.jobs.wake(DELETION_WORK);
  }

  /**
   * Purges up to `size` customers and replaces the lease `held` by `next`. If no customer is left, deletes the row of
   * the clock.
   * @returns number of customers to purge in the next portion. Null if the clock is deleted, or if another process has
   *   taken the deletion over.
   */
  private async purgePortion(
    id: string,
    size: number,
    held: TestClockLease,
    next: TestClockLease,
  ): Promise<number | null> {
    const startedAt = performance.now();
    return this.database.transaction(async () => {
      const customerIds = await this.participants.lockCustomers(id, size);
      if (customerIds.length === 0) {
        await this.clocks.delete(id);
        return null;
      }
      await this.events.remove(await this.participants.purge(customerIds), customerIds);
      if (!(await this.clocks.renewLease(id, held, next))) return null;
      return nextPortion(size, performance.now() - startedAt);
    });
  }

  private async lease(now: Date): Promise<TestClockLease> {
    return newLease(now, await this.session.requireNumber());
  }
}
