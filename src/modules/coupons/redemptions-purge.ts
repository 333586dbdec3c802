import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockPurges } from '../test-clocks';
import { RedemptionsRepository } from './redemptions.repository';

/** Purges the coupon redemptions of customers on a deleted test clock. */
@Injectable()
export class RedemptionsPurge implements OnModuleInit {
  constructor(
    private readonly purges: TestClockPurges,
    private readonly redemptions: RedemptionsRepository,
  ) {}

  onModuleInit(): void {
    this.purges.register({
      name: 'redemptions',
      purge: (customerIds) => this.redemptions.removeOf(customerIds),
    });
  }
}
