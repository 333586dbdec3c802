import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  IdPipe,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../platform/http';
import { couponNotFound } from './coupons.errors';
import { CouponRedemptionDto, toCouponRedemptionDto } from './dto/coupon-redemption.dto';
import { RedemptionsService } from './redemptions.service';

@ApiTags('Coupons')
@Controller('v1/coupons/:id/redemptions')
export class CouponRedemptionsController {
  constructor(private readonly redemptions: RedemptionsService) {}

  @Get()
  @Operation({
    summary: 'List the redemptions of a coupon',
    description: 'Newest first, ended redemptions included.',
    access: 'coupons:read',
    answer: pageOf(CouponRedemptionDto),
    problems: [couponNotFound],
  })
  async listCouponRedemptions(
    @Param('id', new IdPipe('coup', couponNotFound)) id: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<CouponRedemptionDto>> {
    const page = await this.redemptions.list(id, toPageRequest(query, 'red'));
    return toPageDto(page, toCouponRedemptionDto);
  }
}
