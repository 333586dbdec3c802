import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import {
  type CustomerEntitlement,
  type CachedBalance,
  type BalanceRecord,
  toCustomerEntitlement,
  windowOf,
} from './domain/customer-entitlement';
import { entitlementKeyNotFound } from './entitlements.errors';
import { FeaturesService } from '../features';
import { GrantsRepository } from './grants.repository';
import { BalancesRepository } from './balances.repository';
import { MeteredUsageService } from './metered-usage.service';
import { RecalculateBalanceService } from './recalculate-balance.service';
import { SourcesService } from './sources.service';

/** A balance record with the current time of its customer. */
export interface BalanceRecordAt {
  readonly record: BalanceRecord;
  readonly now: Date;
}

/** Reads, locks and lists entitlement balances. Recalculates outdated ones. */
@Injectable()
export class BalancesService {
  constructor(
    private readonly database: Database,
    private readonly balances: BalancesRepository,
    private readonly features: FeaturesService,
    private readonly grants: GrantsRepository,
    private readonly sources: SourcesService,
    private readonly recalculation: RecalculateBalanceService,
    private readonly usage: MeteredUsageService,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the current state of one entitlement of a customer: the cached balance if it is valid, else a new one.
   * @throws {ProblemError} `customer_not_found`, `entitlement_key_not_found`
   */
  async get(customerId: string, key: string): Promise<CustomerEntitlement> {
    const found = await this.balances.findCached(customerId, key);
    if (found !== null && isValidAt(found, await this.nowOf(found.row.testClockId))) {
      return toCustomerEntitlement(found);
    }
    const { record } = await this.database.transaction(() => this.recalculated(customerId, key));
    return toCustomerEntitlement(record);
  }

  /** Returns the current balance record with the time of the customer. Throws what {@link get} throws. */
  async read(customerId: string, key: string): Promise<BalanceRecordAt> {
    const found = await this.balances.findCurrent(customerId, key);
    if (found !== null) {
      const now = await this.nowOf(found.row.testClockId);
      if (isValidAt(found, now)) return { record: found, now };
    }
    return this.database.transaction(() => this.recalculated(customerId, key));
  }

  /**
   * Returns the current balance record, locked until the caller's transaction ends.
   * @throws {ProblemError} what `get` throws, `test_clock_advancing`, `test_clock_failed`
   */
  async lock(customerId: string, key: string): Promise<BalanceRecordAt> {
    return this.lockRecord((await this.read(customerId, key)).record);
  }

  /** Locks a record that the caller has read, and recalculates it if it is outdated. */
  async lockRecord({
    entitlement: { key, meterId },
    row,
  }: BalanceRecord): Promise<BalanceRecordAt> {
    const now = await this.testClocks.nowFor(row.testClockId);
    const window = windowOf(row);
    // Lock order: the stream of the meter, then the balance.
    if (meterId !== null && window !== null) {
      await this.usage.register(row.customerId, meterId, window);
    }
    const record = await this.balances.lockCurrent(row.customerId, key);
    return record !== null && isValidAt(record, now)
      ? { record, now }
      : this.recalculated(row.customerId, key);
  }

  /**
   * Returns the entitlements that a customer has now, newest entitlement first.
   * @throws {ProblemError} `customer_not_found`
   */
  async list(customerId: string, request: PageRequest): Promise<Page<CustomerEntitlement>> {
    const { testClockId } = await this.customers.get(customerId);
    const now = await this.nowOf(testClockId);
    const given = await this.sources.entitlementsOf(customerId, now);
    const granted = await this.grants.entitlementsOf(customerId, now);
    const ids = [...new Set([...given, ...granted])]
      .filter((id) => request.after === null || id < request.after)
      .sort()
      .reverse();
    const page = ids.slice(0, request.limit);
    const entitlements = await this.features.getAll(page);
    const items: CustomerEntitlement[] = [];
    for (const { key } of entitlements) {
      const state = await this.get(customerId, key);
      // A recalculation in `get` may find that a grant has lapsed.
      if (state.sources.length > 0) items.push(state);
    }
    return { items, next: ids.length > page.length ? (page.at(-1) ?? null) : null };
  }

  private async recalculated(customerId: string, key: string): Promise<BalanceRecordAt> {
    const customer = await this.customers.get(customerId);
    const entitlement = await this.features.findByKeyForReference(key);
    if (entitlement === null) throw entitlementKeyNotFound(key);
    const now = await this.nowOf(customer.testClockId);
    return { record: await this.recalculation.recalculate(customer, entitlement, now), now };
  }

  private async nowOf(testClockId: string | null): Promise<Date> {
    return testClockId === null
      ? this.clock.now()
      : (await this.testClocks.get(testClockId)).instant;
  }
}

function isValidAt({ row: { validUntil } }: CachedBalance, now: Date): boolean {
  return validUntil === null || validUntil > now;
}
