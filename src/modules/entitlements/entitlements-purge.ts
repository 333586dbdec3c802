import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockPurges } from '../test-clocks';
import { BalancesRepository } from './balances.repository';

/** Purges the entitlement balances and grants of customers on a deleted test clock. */
@Injectable()
export class EntitlementsPurge implements OnModuleInit {
  constructor(
    private readonly purges: TestClockPurges,
    private readonly balances: BalancesRepository,
  ) {}

  onModuleInit(): void {
    this.purges.register({
      name: 'entitlements',
      purge: (customerIds) => this.balances.purgeCustomers(customerIds),
    });
  }
}
