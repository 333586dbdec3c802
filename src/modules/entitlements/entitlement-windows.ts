import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Jobs } from '../../platform/jobs';
import { TestClockWorks } from '../test-clocks';
import { EntitlementsRepository } from './entitlements.repository';
import { type DueHolding, HoldingWindowsRepository } from './holding-windows.repository';
import { SettleHoldingService } from './settle-holding.service';

const AT_ONCE = 50;
const EVERY_MS = 1_000;
const LEASE_MS = 60_000;

/**
 * Opens the windows of the calendar that meters count by as they begin, whether anybody asks or not: so that an event that
 * reaches a threshold finds its window. Windows of billing periods are opened by the renewal itself. The end of a grant or
 * of a grace is settled as it comes as well: events after it find what is allowed then.
 */
@Injectable()
export class EntitlementWindows implements OnModuleInit {
  private readonly logger = new Logger('entitlement-windows');

  constructor(
    private readonly jobs: Jobs,
    private readonly testClockWorks: TestClockWorks,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly windows: HoldingWindowsRepository,
    private readonly entitlements: EntitlementsRepository,
    private readonly settling: SettleHoldingService,
  ) {}

  onModuleInit(): void {
    const name = 'entitlement-windows';
    this.jobs.register({ name, idleMs: EVERY_MS, runDue: () => this.runDue() });
    this.testClockWorks.register({
      name,
      nextDueAt: (testClockId) => this.windows.nextDueOn(testClockId),
      runDue: async (testClockId, now) => {
        for (const due of await this.windows.dueOn(testClockId, now, AT_ONCE)) {
          await this.open(due, now);
        }
      },
    });
  }

  /** Claims windows that are due and opens them; one that fails is tried again when its lease has ended. */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const claimed = await this.windows.claimDue(now, leaseEndsAt, AT_ONCE);
    for (const due of claimed) {
      try {
        await this.open(due, now);
      } catch (error) {
        this.logger.error({ err: error, customer_entitlement_id: due.id }, 'a window did not open');
      }
    }
    return claimed.length > 0;
  }

  private async open(
    { customerId, entitlementId, testClockId }: DueHolding,
    now: Date,
  ): Promise<void> {
    await this.database.transaction(async () => {
      const entitlement = await this.entitlements.find(entitlementId);
      invariant(entitlement !== null, `The entitlement ${entitlementId} exists.`);
      await this.settling.settle({ id: customerId, testClockId }, entitlement, now);
    });
  }
}
