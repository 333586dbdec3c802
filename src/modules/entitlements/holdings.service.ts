import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Database, type Page, type PageRequest } from '../../platform/database';
import { CustomersService } from '../customers';
import { TestClocksService } from '../test-clocks';
import {
  type CustomerEntitlement,
  type Glimpse,
  type Held,
  shown,
  windowOf,
} from './domain/customer-entitlement';
import { entitlementKeyNotFound } from './entitlements.errors';
import { EntitlementsRepository } from './entitlements.repository';
import { GrantsRepository } from './grants.repository';
import { HoldingsRepository } from './holdings.repository';
import { MeteredUsageService } from './metered-usage.service';
import { SettleHoldingService } from './settle-holding.service';
import { SourcesService } from './sources.service';

/** What a customer has of an entitlement, at its time. */
export interface HeldAt {
  readonly held: Held;
  readonly now: Date;
}

/** What customers have. */
@Injectable()
export class HoldingsService {
  constructor(
    private readonly database: Database,
    private readonly holdings: HoldingsRepository,
    private readonly entitlements: EntitlementsRepository,
    private readonly grants: GrantsRepository,
    private readonly sources: SourcesService,
    private readonly settling: SettleHoldingService,
    private readonly usage: MeteredUsageService,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
    private readonly clock: Clock,
  ) {}

  /**
   * What a customer has of one entitlement right now: the row that commits keep, where it still holds.
   * @throws {ProblemError} `customer_not_found`, `entitlement_key_not_found`
   */
  async get(customerId: string, key: string): Promise<CustomerEntitlement> {
    const found = await this.holdings.glimpseFresh(customerId, key);
    if (found !== null && holdsAt(found, await this.nowOf(found.row.testClockId))) {
      return shown(found);
    }
    const { held } = await this.database.transaction(() => this.settled(customerId, key));
    return shown(held);
  }

  /** The same as it is kept, with the time of the customer. Throws what `get` throws. */
  async read(customerId: string, key: string): Promise<HeldAt> {
    const found = await this.holdings.findFresh(customerId, key);
    if (found !== null) {
      const now = await this.nowOf(found.row.testClockId);
      if (holdsAt(found, now)) return { held: found, now };
    }
    return this.database.transaction(() => this.settled(customerId, key));
  }

  /**
   * The same, locked until the caller's transaction ends.
   * @throws {ProblemError} what `get` throws, `test_clock_advancing`, `test_clock_failed`
   */
  async lock(customerId: string, key: string): Promise<HeldAt> {
    return this.lockSeen((await this.read(customerId, key)).held);
  }

  /** The same for what the caller has read. */
  async lockSeen({ entitlement: { key, meterId }, row }: Held): Promise<HeldAt> {
    const now = await this.testClocks.nowFor(row.testClockId);
    const window = windowOf(row);
    // The stream of a meter comes before what customers have in the order of locks.
    if (meterId !== null && window !== null) {
      await this.usage.hold(row.customerId, meterId, window);
    }
    const held = await this.holdings.lockFresh(row.customerId, key);
    return held !== null && holdsAt(held, now) ? { held, now } : this.settled(row.customerId, key);
  }

  /**
   * All that a customer has right now, the newest entitlement first.
   * @throws {ProblemError} `customer_not_found`
   */
  async list(customerId: string, request: PageRequest): Promise<Page<CustomerEntitlement>> {
    const { testClockId } = await this.customers.get(customerId);
    const now = await this.nowOf(testClockId);
    const given = await this.sources.entitlementsOf(customerId, now);
    const granted = await this.grants.grantedTo(customerId, now);
    const ids = [...new Set([...given, ...granted])]
      .filter((id) => request.after === null || id < request.after)
      .sort()
      .reverse();
    const page = ids.slice(0, request.limit);
    const entitlements = await this.entitlements.findAll(page);
    const items: CustomerEntitlement[] = [];
    for (const { key } of entitlements) {
      const state = await this.get(customerId, key);
      // A grant that has lapsed since is found to have only here.
      if (state.sources.length > 0) items.push(state);
    }
    return { items, next: ids.length > page.length ? (page.at(-1) ?? null) : null };
  }

  private async settled(customerId: string, key: string): Promise<HeldAt> {
    const customer = await this.customers.get(customerId);
    const entitlement = await this.entitlements.findByKeyForReference(key);
    if (entitlement === null) throw entitlementKeyNotFound(key);
    const now = await this.nowOf(customer.testClockId);
    return { held: await this.settling.settle(customer, entitlement, now), now };
  }

  private async nowOf(testClockId: string | null): Promise<Date> {
    return testClockId === null
      ? this.clock.now()
      : (await this.testClocks.get(testClockId)).instant;
  }
}

function holdsAt({ row: { validUntil } }: Glimpse, now: Date): boolean {
  return validUntil === null || validUntil > now;
}
