import { Module } from '@nestjs/common';
import { TestClocksModule } from '../test-clocks';
import { RedemptionsPurge } from './redemptions-purge';
import { CouponRedemptionsController } from './coupon-redemptions.controller';
import { CouponsController } from './coupons.controller';
import { CouponsRepository } from './coupons.repository';
import { CouponsService } from './coupons.service';
import { RedemptionsRepository } from './redemptions.repository';
import { RedemptionsService } from './redemptions.service';

@Module({
  imports: [TestClocksModule],
  controllers: [CouponsController, CouponRedemptionsController],
  providers: [
    RedemptionsPurge,
    CouponsRepository,
    CouponsService,
    RedemptionsRepository,
    RedemptionsService,
  ],
  exports: [RedemptionsService],
})
export class CouponsModule {}
