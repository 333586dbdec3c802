import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { TestClockParticipants } from '../test-clocks';
import { RedemptionsRepository } from './redemptions.repository';

/**
 * Deletes the redemptions of the customers on a deleted test clock, and subtracts their number from `times_redeemed` of
 * the coupons. Subtracts last, because this locks the coupons, which other customers may be redeeming.
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
