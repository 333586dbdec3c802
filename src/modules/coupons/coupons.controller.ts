import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../platform/database';
import { metadataTooLarge, referenceNotFound } from '../../platform/errors';
import {
  IdPipe,
  IfMatch,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../platform/http';
import {
  couponCodeTaken,
  couponInUse,
  couponNotFound,
  couponTermsContradict,
} from './coupons.errors';
import { CouponsService } from './coupons.service';
import { CouponDto, toCouponDto } from './dto/coupon.dto';
import { CreateCouponDto, toCouponTerms } from './dto/create-coupon.dto';
import { toCouponChange, UpdateCouponDto } from './dto/update-coupon.dto';

const couponId = new IdPipe('coup', couponNotFound);

@ApiTags('Coupons')
@Controller('v1/coupons')
export class CouponsController {
  constructor(private readonly coupons: CouponsService) {}

  @Post()
  @Operation({
    summary: 'Create a coupon',
    description: 'Takes `percent_off`, or `amount_off` with `currency`.',
    access: 'coupons:write',
    status: 201,
    answer: CouponDto,
    key: 'optional',
    problems: [couponTermsContradict, referenceNotFound, couponCodeTaken],
  })
  async createCoupon(@Body() body: CreateCouponDto): Promise<CouponDto> {
    return withETag(await this.coupons.create(toCouponTerms(body)), toCouponDto);
  }

  @Get()
  @Operation({
    summary: 'List coupons',
    description: 'Newest first, inactive coupons included.',
    access: 'coupons:read',
    answer: pageOf(CouponDto),
  })
  async listCoupons(@Query() query: ListQueryDto): Promise<PageDto<CouponDto>> {
    return toPageDto(await this.coupons.list(toPageRequest(query, 'coup')), toCouponDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a coupon',
    description: 'Returns the coupon with the number of its redemptions.',
    access: 'coupons:read',
    answer: CouponDto,
    conditional: true,
    problems: [couponNotFound],
  })
  async getCoupon(@Param('id', couponId) id: string): Promise<CouponDto> {
    return withETag(await this.coupons.get(id), toCouponDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update a coupon',
    description:
      'Activates or deactivates the coupon, or merges its metadata. An inactive coupon cannot be redeemed; running ' +
      'discounts continue. An empty body changes nothing.',
    access: 'coupons:write',
    answer: CouponDto,
    problems: [couponNotFound, metadataTooLarge],
  })
  async updateCoupon(
    @Param('id', couponId) id: string,
    @Body() body: UpdateCouponDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<CouponDto> {
    return withETag(await this.coupons.update(id, toCouponChange(body), expected), toCouponDto);
  }

  @Delete(':id')
  @Operation({
    summary: 'Delete a coupon that was never redeemed',
    description: 'Refused when the coupon was redeemed: set `is_active` to false instead.',
    access: 'coupons:write',
    problems: [couponNotFound, couponInUse],
  })
  async deleteCoupon(
    @Param('id', couponId) id: string,
    @IfMatch() expected: VersionCondition,
  ): Promise<void> {
    await this.coupons.delete(id, expected);
  }
}
