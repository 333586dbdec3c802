import { Module } from '@nestjs/common';
import { CustomersModule } from '../customers';
import { purgeProvider, TestClocksModule } from '../test-clocks';
import { CouponRedemptionsController } from './coupon-redemptions.controller';
import { CouponsController } from './coupons.controller';
import { CouponsRepository } from './coupons.repository';
import { CouponsService } from './coupons.service';
import { RedemptionsRepository } from './redemptions.repository';
import { RedemptionsService } from './redemptions.service';

@Module({
  imports: [CustomersModule, TestClocksModule],
  controllers: [CouponsController, CouponRedemptionsController],
  providers: [
    purgeProvider('redemptions', RedemptionsRepository, (from, customerIds) =>
      from.removeOf(customerIds),
    ),
    CouponsRepository,
    CouponsService,
    RedemptionsRepository,
    RedemptionsService,
  ],
  exports: [RedemptionsService],
})
export class CouponsModule {}
