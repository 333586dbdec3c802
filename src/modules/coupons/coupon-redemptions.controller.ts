import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { ExpandsCustomers, withCustomer } from '../customers';
import { couponNotFound } from './coupons.errors';
import {
  CouponRedemptionDto,
  ListCouponRedemptionsDto,
  toCouponRedemptionDto,
} from './dto/coupon-redemption.dto';
import { RedemptionsService } from './redemptions.service';

@ApiTags('Coupons')
@Controller('v1/coupons/:id/redemptions')
export class CouponRedemptionsController {
  constructor(private readonly redemptions: RedemptionsService) {}

  @Get()
  @ExpandsCustomers()
  @Operation({
    summary: 'List the redemptions of a coupon',
    description: 'Newest first, ended redemptions included.',
    access: 'coupons:read',
    answer: pageOf(withCustomer(CouponRedemptionDto)),
    problems: [couponNotFound],
  })
  async listCouponRedemptions(
    @Param('id', new IdPipe('coup', couponNotFound)) id: string,
    @Query() query: ListCouponRedemptionsDto,
  ): Promise<PageDto<CouponRedemptionDto>> {
    const page = await this.redemptions.list(id, toPageRequest(query, 'red'));
    return toPageDto(page, toCouponRedemptionDto);
  }
}
