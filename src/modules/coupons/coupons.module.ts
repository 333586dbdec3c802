import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { TestClocksModule } from '../test-clocks';
import { RedemptionsPurge } from './redemptions-purge';
import { CouponRedemptionEntity } from './coupon-redemption.entity';
import { CouponRedemptionsController } from './coupon-redemptions.controller';
import { CouponEntity } from './coupon.entity';
import { CouponsController } from './coupons.controller';
import { CouponsRepository } from './coupons.repository';
import { CouponsService } from './coupons.service';
import { RedemptionsRepository } from './redemptions.repository';
import { RedemptionsService } from './redemptions.service';

@Module({
  imports: [TypeOrmModule.forFeature([CouponEntity, CouponRedemptionEntity]), TestClocksModule],
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
