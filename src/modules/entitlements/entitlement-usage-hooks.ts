import { Injectable, type OnModuleInit } from '@nestjs/common';
import { compare } from '../../core/decimal';
import { CustomersService } from '../customers';
import { type ChangedWindow, UsageHooks } from '../metering';
import { type BalanceAt, BalanceWindowsRepository } from './balance-windows.repository';
import { isValidAt } from './domain/customer-entitlement';
import { type MovedBalance, BalanceUsageService } from './balance-usage.service';
import { RecalculateBalanceService } from './recalculate-balance.service';

/**
 * Maximum number of balances that are recalculated in a commit that stores usage. Each recalculation takes about ten
 * statements. Meanwhile all usage streams of the commit are locked.
 */
const MAX_RECALCULATED = 20;

/** Updates entitlement balances in the same commit that stores or voids usage events. */
@Injectable()
export class EntitlementUsageHooks implements OnModuleInit {
  constructor(
    private readonly usage: UsageHooks,
    private readonly windows: BalanceWindowsRepository,
    private readonly recalculateBalance: RecalculateBalanceService,
    private readonly balanceUsage: BalanceUsageService,
    private readonly customers: CustomersService,
  ) {}

  onModuleInit(): void {
    this.usage.register((windows) => this.onUsageChanged(windows));
  }

  /** Updates the balances whose usage is counted in these windows. The caller must have locked the usage streams. */
  private async onUsageChanged(moves: readonly ChangedWindow[]): Promise<void> {
    const times = new Map<string, Date>();
    const moved: MovedBalance[] = [];
    const outdated: BalanceAt[] = [];
    for (const { record, isCurrent, used } of await this.windows.lockCounted(moves)) {
      const { testClockId } = record.row;
      const now = times.get(testClockId ?? '') ?? (await this.customers.currentTimeOf(record.row));
      times.set(testClockId ?? '', now);
      if (isCurrent && isValidAt(record, now)) {
        if (compare(used, record.row.used) !== 0) moved.push({ record, used, now });
        continue;
      }
      outdated.push({ record, now });
    }
    // Recalculates outdated balances, and balances whose window or source (plan, add-on or grant) has ended. The
    // recalculation also reads the new usage.
    for (const { record, now } of outdated.slice(0, MAX_RECALCULATED)) {
      const { customerId: id, testClockId } = record.row;
      const recalculated = await this.recalculateBalance.recalculate(
        { id, testClockId },
        record.entitlement,
        now,
      );
      moved.push({ record: recalculated, used: recalculated.row.used, now });
    }
    await this.windows.postpone(outdated.slice(MAX_RECALCULATED));
    await this.balanceUsage.write(moved);
  }
}
