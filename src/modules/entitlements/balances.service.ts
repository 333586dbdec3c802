import { Injectable } from '@nestjs/common';
import { changedAt } from '../../core/next-version';
import { raise } from '../../platform/errors';
import { Database } from '../../platform/database';
import { ClockCheck } from '../../platform/processes';
import { CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import {
  type CustomerEntitlement,
  type BalanceRecord,
  isValidAt,
  toCustomerEntitlement,
  windowOf,
} from './domain/customer-entitlement';
import { balanceTime } from './domain/reset-window';
import { entitlementKeyNotFound } from './entitlements.errors';
import { FeaturesService } from '../features';
import { BalancesRepository } from './balances.repository';
import { MeteredUsageService } from './metered-usage.service';
import { RecalculateBalanceService } from './recalculate-balance.service';

/** A balance, and the time at which it was read (see {@link balanceTime}). */
export interface BalanceRecordAt {
  readonly record: BalanceRecord;
  readonly now: Date;
}

/** Reads and locks entitlement balances. First recalculates a balance that is missing or outdated. */
@Injectable()
export class BalancesService {
  constructor(
    private readonly database: Database,
    private readonly balances: BalancesRepository,
    private readonly features: FeaturesService,
    private readonly recalculateBalance: RecalculateBalanceService,
    private readonly usage: MeteredUsageService,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly clockCheck: ClockCheck,
  ) {}

  /**
   * Returns the current state of one entitlement of a customer. Recalculates the balance if it is missing or outdated.
   * @throws {ProblemError} `customer_not_found`, `entitlement_key_not_found`, `test_clock_not_found` while the test
   *   clock of the customer is being deleted, `service_unavailable` while the clock of this process is wrong
   */
  async get(customerId: string, key: string): Promise<CustomerEntitlement> {
    const found = await this.balances.findCached(customerId, key);
    if (found !== null && isValidAt(found, await this.testClocks.timeOn(found.row.testClockId))) {
      return toCustomerEntitlement(found);
    }
    return toCustomerEntitlement((await this.readRecalculated(customerId, key)).record);
  }

  /**
   * Returns the current balance. Recalculates it if it is missing or outdated.
   * @throws {ProblemError} what `get` throws
   */
  async read(customerId: string, key: string): Promise<BalanceRecordAt> {
    const found = await this.balances.findCurrent(customerId, key);
    if (found !== null) {
      const now = await this.testClocks.timeOn(found.row.testClockId);
      if (isValidAt(found, now)) return recordAt(found, now);
    }
    return this.readRecalculated(customerId, key);
  }

  /**
   * Returns the current balance, locked until the caller's transaction ends.
   * @throws {ProblemError} what `get` throws, `test_clock_advancing`, `test_clock_failed`
   */
  async lock(customerId: string, key: string): Promise<BalanceRecordAt> {
    return this.lockRecord((await this.read(customerId, key)).record);
  }

  /**
   * Locks a balance that the caller has already read, and reads it again. Recalculates it if it is outdated by now.
   * @throws {ProblemError} what `lock` throws
   */
  async lockRecord({
    entitlement: { key, meterId },
    row,
  }: BalanceRecord): Promise<BalanceRecordAt> {
    const now = await this.testClocks.nowFor(row.testClockId);
    // Lock order: the stream of the meter, then the balance.
    if (meterId !== null) await this.usage.lockStream(row.customerId, meterId);
    const record = await this.balances.lockCurrent(row.customerId, key);
    return record !== null && isValidAt(record, now)
      ? recordAt(record, now)
      : this.recalculate(row.customerId, key);
  }

  private async readRecalculated(customerId: string, key: string): Promise<BalanceRecordAt> {
    await this.clockCheck.waitUntilRight();
    return this.database.transaction(() => this.recalculate(customerId, key));
  }

  private async recalculate(customerId: string, key: string): Promise<BalanceRecordAt> {
    // A clock that is ahead would end grants for good.
    this.clockCheck.requireRight();
    // Lock order: the customer, as by its deletion, then the stream and the balance.
    const customer = await this.customers.lockForReference(customerId);
    const entitlement =
      (await this.features.findByKeyForReference(key)) ?? raise(entitlementKeyNotFound(key));
    const now = await this.testClocks.timeOn(customer.testClockId);
    return recordAt(await this.recalculateBalance.recalculate(customer, entitlement, now), now);
  }
}

function recordAt(record: BalanceRecord, now: Date): BalanceRecordAt {
  return { record, now: balanceTime(changedAt(now, record.row), windowOf(record.row)) };
}
