import { Injectable } from '@nestjs/common';
import type { Page, PageRequest } from '../../platform/database';
import { CustomersService } from '../customers';
import { FeaturesService } from '../features';
import { TestClocksService } from '../test-clocks';
import { BalancesService } from './balances.service';
import type { CustomerEntitlement } from './domain/customer-entitlement';
import { GrantsRepository } from './grants.repository';
import { SourcesService } from './sources.service';

@Injectable()
export class CustomerEntitlementsService {
  constructor(
    private readonly balances: BalancesService,
    private readonly features: FeaturesService,
    private readonly grants: GrantsRepository,
    private readonly sources: SourcesService,
    private readonly customers: CustomersService,
    private readonly testClocks: TestClocksService,
  ) {}

  /**
   * Returns the entitlements that a customer has now, from subscriptions and grants, newest entitlement first.
   * @throws {ProblemError} `customer_not_found`, `test_clock_not_found` while the test clock of the customer is being
   *   deleted
   */
  async list(customerId: string, request: PageRequest): Promise<Page<CustomerEntitlement>> {
    const { testClockId } = await this.customers.get(customerId);
    const now = await this.testClocks.timeOn(testClockId);
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
      const state = await this.balances.get(customerId, key);
      // The recalculation may have found that the last grant lapsed. The customer then no longer has the entitlement.
      if (state.sources.length > 0) items.push(state);
    }
    return { items, next: ids.length > page.length ? (page.at(-1) ?? null) : null };
  }
}
