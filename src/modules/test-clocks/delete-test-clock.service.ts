import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AuditTrail } from '../../platform/audit';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Jobs } from '../../platform/jobs';
import { EventLog } from '../../platform/outbox';
import { ProcessSession } from '../../platform/processes';
import { FIRST_PORTION, nextPortion } from './domain/purge-portion';
import { isBeingMoved, LEASE_MS } from './domain/test-clock';
import { TestClockParticipants } from './test-clock-participants';
import { testClockAdvancing, testClockNotFound } from './test-clocks.errors';
import { TestClocksRepository } from './test-clocks.repository';

/** Name of the due work that continues interrupted deletions. */
export const DELETION_WORK = 'test-clock-deletions';
const EVERY_MS = 10_000;

/** Deletes test clocks with all data about their customers. */
@Injectable()
export class DeleteTestClockService implements OnModuleInit {
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
   * Deletes a clock at once, so that no command finds it, then purges its customers with all data about them in commits of
   * their own: billing, ledger, events and deliveries. Data of other customers is not changed. After an interruption the
   * background work continues.
   * @throws {ProblemError} `test_clock_not_found`, `test_clock_advancing`
   */
  async delete(id: string): Promise<void> {
    await this.database.transaction(async () => {
      // Commands that use the clock end before, because they hold its lock.
      const clock = await this.clocks.lock(id, 'move');
      if (clock === null) throw testClockNotFound(id);
      const now = this.clock.now();
      if (isBeingMoved(clock, now)) throw testClockAdvancing(id);
      await this.clocks.markDeleted(id, now, this.lease(now));
      const purged = await this.participants.countCustomers(id);
      await this.audit.record({
        action: 'test_clock.deleted',
        objectId: id,
        fields: { purged_customers: purged },
      });
    });
    await this.purge(id);
  }

  /** Continues an interrupted deletion. Returns true if there may be more. */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const id = await this.clocks.claimDeleted(now, this.lease(now));
    if (id !== null) await this.purge(id);
    return id !== null;
  }

  private async purge(id: string): Promise<void> {
    for (let size = FIRST_PORTION; ;) {
      const startedAt = performance.now();
      const isDone = await this.database.transaction(() => this.purgePortion(id, size));
      if (isDone) return;
      size = nextPortion(size, performance.now() - startedAt);
    }
  }

  /** Purges some customers, or deletes the row of the clock when none is left. Returns true at the end. */
  private async purgePortion(id: string, size: number): Promise<boolean> {
    const customerIds = await this.participants.lockCustomers(id, size);
    if (customerIds.length === 0) {
      await this.clocks.delete(id);
      return true;
    }
    await this.events.remove(await this.participants.purge(customerIds));
    await this.clocks.renewLease(id, this.lease(this.clock.now()));
    return false;
  }

  private lease(now: Date): { readonly endsAt: Date; readonly owner: number | null } {
    return { endsAt: new Date(now.getTime() + LEASE_MS), owner: this.session.number };
  }
}
