import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockRemovals } from '../test-clocks';
import { RedemptionsRepository } from './redemptions.repository';

/** What customers on a test clock redeemed goes with it. */
@Injectable()
export class RedemptionsRemoval implements OnModuleInit {
  constructor(
    private readonly removals: TestClockRemovals,
    private readonly redemptions: RedemptionsRepository,
  ) {}

  onModuleInit(): void {
    this.removals.register({
      name: 'redemptions',
      remove: (customerIds) => this.redemptions.removeOf(customerIds),
    });
  }
}
