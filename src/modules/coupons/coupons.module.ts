import { Module } from '@nestjs/common';
import { CatalogModule } from '../catalog';
import { CustomersModule } from '../customers';
import { TestClocksModule } from '../test-clocks';
import { CouponRedemptionsController } from './coupon-redemptions.controller';
import { CouponsController } from './coupons.controller';
import { CouponsRepository } from './coupons.repository';
import { CouponsService } from './coupons.service';
import { RedemptionsPurge } from './redemptions-purge';
import { RedemptionsRepository } from './redemptions.repository';
import { RedemptionsService } from './redemptions.service';

@Module({
  imports: [CatalogModule, CustomersModule, TestClocksModule],
  controllers: [CouponsController, CouponRedemptionsController],
  providers: [
    CouponsRepository,
    CouponsService,
    RedemptionsPurge,
    RedemptionsRepository,
    RedemptionsService,
  ],
  exports: [RedemptionsService],
})
export class CouponsModule {}
