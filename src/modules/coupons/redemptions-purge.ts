import { Injectable, type OnModuleInit } from '@nestjs/common';
import { TestClockParticipants } from '../test-clocks';
import { RedemptionsRepository } from './redemptions.repository';

/**
 * Deletes the redemptions of the customers on a deleted test clock, and subtracts the number of deleted redemptions
 * from `times_redeemed` of their coupons. The subtraction comes last, because other customers redeem the same coupons.
 */
@Injectable()
export class RedemptionsPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly redemptions: RedemptionsRepository,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'redemptions',
      purge: async (customerIds, runLast) => {
        const removed = await this.redemptions.removeOf(customerIds);
        runLast(() => this.redemptions.subtract(removed.map(({ couponId }) => couponId)));
        return removed.map(({ id }) => id);
      },
    });
  }
}
