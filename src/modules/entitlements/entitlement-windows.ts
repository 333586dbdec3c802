import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Clock } from '../../platform/clock';
import { Database } from '../../platform/database';
import { Jobs } from '../../platform/jobs';
import { Claims } from '../../platform/processes';
import { FeaturesService } from '../features';
import { TestClockParticipants } from '../test-clocks';
import { BalanceWindowsRepository, type DueBalance } from './balance-windows.repository';
import { RecalculateBalanceService } from './recalculate-balance.service';

const WORK = 'entitlement-windows';
const BATCH_SIZE = 50;
const IDLE_MS = 1_000;
const LEASE_MS = 60_000;

/**
 * Opens calendar windows of metered entitlements when they start, so that an event that reaches a threshold finds its
 * window without a check before. A renewal opens the windows of billing periods itself. Balances are also recalculated when
 * a grant or a grace period ends, so that later events meet the allowance of that time.
 */
@Injectable()
export class EntitlementWindows implements OnModuleInit {
  private readonly logger = new Logger(WORK);

  constructor(
    private readonly jobs: Jobs,
    private readonly claims: Claims,
    private readonly testClocks: TestClockParticipants,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly windows: BalanceWindowsRepository,
    private readonly features: FeaturesService,
    private readonly recalculation: RecalculateBalanceService,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: WORK, idleMs: IDLE_MS, runDue: () => this.runDue() });
    this.claims.register({
      work: WORK,
      table: 'customer_entitlement',
      leaseColumn: 'lease_ends_at',
    });
    this.testClocks.registerJob({
      name: WORK,
      nextDueAt: (testClockId) => this.windows.nextDueOn(testClockId),
      runDue: async (testClockId, now) => {
        for (const due of await this.windows.dueOn(testClockId, now, BATCH_SIZE)) {
          await this.open(due, now);
        }
      },
    });
  }

  /** Claims due balances and recalculates them. A failed one is retried when its lease has ended. */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const claimed = await this.claims.claim(WORK, leaseEndsAt, () =>
      this.windows.claimDue(now, leaseEndsAt, BATCH_SIZE),
    );
    for (const due of claimed) {
      try {
        await this.open(due, now);
      } catch (error) {
        this.logger.error(
          { err: error, customer_entitlement_id: due.id },
          'Opening an entitlement window failed; it is retried when its lease ends',
        );
      }
    }
    return claimed.length > 0;
  }

  private async open(
    { customerId, entitlementId, testClockId }: DueBalance,
    now: Date,
  ): Promise<void> {
    await this.database.transaction(async () => {
      const entitlement = await this.features.find(entitlementId);
      invariant(entitlement !== null, `The entitlement ${entitlementId} exists.`);
      await this.recalculation.recalculate({ id: customerId, testClockId }, entitlement, now);
    });
  }
}
