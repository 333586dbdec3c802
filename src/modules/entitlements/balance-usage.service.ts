import { Injectable } from '@nestjs/common';
import type { Rational } from '../../core/decimal';
import { Outbox, toEventRecord } from '../../platform/outbox';
import type { BalanceRecord } from './domain/customer-entitlement';
import { newlyReached, withUsed } from './domain/entitlement-balance';
import { limitReached, thresholdReached } from './entitlements.events';
import { BalancesRepository } from './balances.repository';

/** Percentage at which `entitlement.limit_reached` is recorded, even if the entitlement has no threshold of 100. */
const LIMIT_PERCENT = 100;

/** A balance and its new usage, not stored yet. `now` is the time on the customer's clock (real or test). */
export interface MovedBalance {
  readonly record: BalanceRecord;
  readonly used: Rational;
  readonly now: Date;
}

/** A balance with its new usage. `percents`: thresholds that it has newly reached, in percent of the limit. */
export interface ReachedBalance {
  readonly record: BalanceRecord;
  readonly percents: readonly number[];
  readonly now: Date;
}

/** Writes the usage of balances, and records an event for each threshold that is newly reached. */
@Injectable()
export class BalanceUsageService {
  constructor(
    private readonly balances: BalancesRepository,
    private readonly outbox: Outbox,
  ) {}

  /** Writes the new usage of balances, which the caller must have locked. Returns the balances with their new usage. */
  async write(moved: readonly MovedBalance[]): Promise<readonly BalanceRecord[]> {
    const after = moved.map(withUsage);
    await this.balances.writeUsage(after.map(({ record, now }) => ({ row: record.row, now })));
    await this.recordReached(after);
    return after.map(({ record }) => record);
  }

  async recordReached(balances: readonly ReachedBalance[]): Promise<void> {
    const reached = balances.flatMap(({ record, percents, now }) =>
      percents.map((percent) => ({ after: { record, percent }, occurredAt: now })),
    );
    await this.outbox.recordAll(
      reached.flatMap((change) => [
        ...(change.after.record.entitlement.thresholds.includes(change.after.percent)
          ? [toEventRecord(thresholdReached, change)]
          : []),
        ...(change.after.percent === LIMIT_PERCENT ? [toEventRecord(limitReached, change)] : []),
      ]),
    );
  }
}

export function withUsage({
  record: { entitlement, row },
  used,
  now,
}: MovedBalance): ReachedBalance {
  const counted = { entitlement, row: withUsed(row, used, row.allowance) };
  const percents = newlyReached(counted, [...entitlement.thresholds, LIMIT_PERCENT]);
  const notifiedThresholds = [...row.notifiedThresholds, ...percents];
  return { record: { entitlement, row: { ...counted.row, notifiedThresholds } }, percents, now };
}
