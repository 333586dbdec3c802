import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CouponRedemptionEntity } from './coupon-redemption.entity';
import { CouponRedemptionsController } from './coupon-redemptions.controller';
import { CouponEntity } from './coupon.entity';
import { CouponsController } from './coupons.controller';
import { CouponsRepository } from './coupons.repository';
import { CouponsService } from './coupons.service';
import { RedemptionsRepository } from './redemptions.repository';
import { RedemptionsService } from './redemptions.service';

@Module({
  imports: [TypeOrmModule.forFeature([CouponEntity, CouponRedemptionEntity])],
  controllers: [CouponsController, CouponRedemptionsController],
  providers: [CouponsRepository, CouponsService, RedemptionsRepository, RedemptionsService],
  exports: [RedemptionsService],
})
export class CouponsModule {}
