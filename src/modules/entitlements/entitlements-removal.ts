import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockRemovals } from '../test-clocks';
import { HoldingsRepository } from './holdings.repository';

/** What customers on a test clock have goes with it. */
@Injectable()
export class EntitlementsRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly holdings: HoldingsRepository,
  ) {}

  onModuleInit(): void {
    this.removals.register({
      name: 'entitlements',
      remove: (customerIds) => this.holdings.removeOf(customerIds),
    });
  }
}
