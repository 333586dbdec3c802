import { Injectable, type OnModuleInit } from '@nestjs/common';
import { invariant } from '../../core/invariant';
import { Database } from '../../platform/database';
import { FeaturesService } from '../features';
import { UsageBillingService } from '../metering';
import { type DueQueue, DueQueues } from '../test-clocks';
import { inLockOrder } from './balances.repository';
import { DUE_BALANCES, type DueBalance } from './balance-windows.repository';
import { RecalculateBalanceService } from './recalculate-balance.service';

/** Maximum number of balances per commit. During the commit, new usage events of the same customers must wait. */
const MAX_PER_COMMIT = 10;

/**
 * Recalculates balances in the background when a calendar window starts, when a grant or a grace period ends, and when
 * a subscription ends as scheduled. From then on, usage events count in the new window, or against the new allowance,
 * even without an access check. Windows that start with a billing period do not need this, because the renewal
 * recalculates their balances.
 */
@Injectable()
export class EntitlementWindows implements OnModuleInit {
  private readonly queue: DueQueue<DueBalance> = {
    name: 'entitlement-windows',
    rows: DUE_BALANCES,
    batchesOf: inGroups,
    run: (balances, now) => this.open(balances, now),
    whenRefused: 'fail',
  };

  constructor(
    private readonly queues: DueQueues,
    private readonly database: Database,
    private readonly usage: UsageBillingService,
    private readonly features: FeaturesService,
    private readonly recalculateBalance: RecalculateBalanceService,
  ) {}

  onModuleInit(): void {
    this.queues.register(this.queue);
  }

  /** Recalculates due balances. Returns true if more may be due. */
  runDue(): Promise<boolean> {
    return this.queues.runDue(this.queue);
  }

  /**
   * Recalculates balances in one commit. First blocks new usage events of the customers. Takes locks in the same order
   * as ingestion and changes of subscriptions, so that they cannot deadlock.
   */
  private async open(balances: readonly DueBalance[], now: Date): Promise<void> {
    await this.database.transaction(async () => {
      await this.usage.blockAllNewEvents(balances.map(({ customerId }) => customerId));
      for (const { customerId, entitlementId, testClockId } of inLockOrder(balances)) {
        const entitlement = await this.features.find(entitlementId);
        invariant(entitlement !== null, `The entitlement ${entitlementId} exists.`);
        await this.recalculateBalance.recalculate(
          { id: customerId, testClockId },
          entitlement,
          now,
        );
      }
    });
  }
}

function inGroups(balances: readonly DueBalance[]): readonly (readonly DueBalance[])[] {
  const groups: (readonly DueBalance[])[] = [];
  for (let start = 0; start < balances.length; start += MAX_PER_COMMIT) {
    groups.push(balances.slice(start, start + MAX_PER_COMMIT));
  }
  return groups;
}
