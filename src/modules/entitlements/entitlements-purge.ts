import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockParticipants } from '../test-clocks';
import { BalancesRepository } from './balances.repository';

/** Purges the entitlement balances and grants of customers on a deleted test clock. */
@Injectable()
export class EntitlementsPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly balances: BalancesRepository,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'entitlements',
      purge: (customerIds) => this.balances.purgeCustomers(customerIds),
    });
  }
}
