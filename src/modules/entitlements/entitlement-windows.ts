import { Injectable, type OnModuleInit } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { FeaturesService } from '../features';
import { type DueQueue, DueQueues } from '../test-clocks';
import { BalanceWindowsRepository, type DueBalance } from './balance-windows.repository';
import { RecalculateBalanceService } from './recalculate-balance.service';

/**
 * Opens calendar windows of metered entitlements when they start, so that an event that reaches a threshold finds its
 * window without a check before. A renewal opens the windows of billing periods itself. Balances are also recalculated when
 * a grant or a grace period ends, so that later events meet the allowance of that time.
 */
@Injectable()
export class EntitlementWindows implements OnModuleInit {
  private readonly queue: DueQueue<DueBalance> = {
    name: 'entitlement-windows',
    table: 'customer_entitlement',
    claimDue: (...due) => this.windows.claimDue(...due),
    nextDueOn: (testClockId) => this.windows.nextDueOn(testClockId),
    dueOn: (...due) => this.windows.dueOn(...due),
    // Each balance has a commit of its own.
    batchesOf: (balances) => balances.map((balance) => [balance]),
    run: async (balances, now) => {
      for (const balance of balances) await this.open(balance, now);
    },
  };

  constructor(
    private readonly queues: DueQueues,
    private readonly database: Database,
    private readonly windows: BalanceWindowsRepository,
    private readonly features: FeaturesService,
    private readonly recalculation: RecalculateBalanceService,
  ) {}

  onModuleInit(): void {
    this.queues.register(this.queue);
  }

  /** Returns true if more may be due. */
  runDue(): Promise<boolean> {
    return this.queues.runDue(this.queue);
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
