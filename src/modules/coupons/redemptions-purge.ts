import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockParticipants } from '../test-clocks';
import { RedemptionsRepository } from './redemptions.repository';

/** Purges the coupon redemptions of customers on a deleted test clock. */
@Injectable()
export class RedemptionsPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly redemptions: RedemptionsRepository,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'redemptions',
      purge: (customerIds) => this.redemptions.removeOf(customerIds),
    });
  }
}
