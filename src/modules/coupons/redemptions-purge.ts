import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { TestClockParticipants } from '../test-clocks';
import { RedemptionsRepository } from './redemptions.repository';

/**
 * Deletes the redemptions of the customers on a deleted test clock. Subtracts their number from `times_redeemed` of the
 * coupons. The subtraction runs last in the purge, because it locks the coupons. Other customers who redeem the same
 * coupons wait for this lock.
 */
@Injectable()
export class RedemptionsPurge implements OnModuleInit {
  constructor(
    private readonly testClocks: TestClockParticipants,
    private readonly redemptions: RedemptionsRepository,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.testClocks.registerPurge({
      name: 'redemptions',
      purge: async (customerIds, runLast) => {
        const removed = await this.redemptions.removeOf(customerIds);
        const couponIds = removed.map(({ couponId }) => couponId);
        runLast(() => this.redemptions.subtract(couponIds, this.clock.now()));
        return removed.map(({ id }) => id);
      },
    });
  }
}
