import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../../platform/database';
import { outcomeUnknown } from '../../../platform/errors';
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
} from '../../../platform/http';
import {
  CouponRedemptionDto,
  couponRedemptionNotFound,
  RedemptionsService,
  toCouponRedemptionDto,
} from '../../coupons';
import {
  subscriptionNotFound,
  subscriptionNotRunning,
  SubscriptionsService,
  toSubscriptionDto,
} from '../../subscriptions';
import { PreviewQueryDto, RedeemCouponDto } from '../dto/subscription-commands.dto';
import {
  SUBSCRIPTION_OR_PREVIEW,
  type SubscriptionOrPreview,
  toSubscriptionPreviewDto,
} from '../dto/subscription-preview.dto';
import { CHANGE_PROBLEMS, REDEMPTION_PROBLEMS } from './command-problems';
import { SubscriptionCouponsWorkflow } from './subscription-coupons.workflow';

const subscriptionId = new IdPipe('sub', subscriptionNotFound);
const redemptionId = new IdPipe('red', couponRedemptionNotFound);

@ApiTags('Subscriptions')
@Controller('v1/subscriptions/:id/coupons')
export class SubscriptionCouponsController {
  constructor(
    private readonly subscriptions: SubscriptionsService,
    private readonly redemptions: RedemptionsService,
    private readonly couponsWorkflow: SubscriptionCouponsWorkflow,
  ) {}

  @Get()
  @Operation({
    summary: 'List the coupons of a subscription',
    description: 'Its redemptions, newest first, ended ones included.',
    access: 'subscriptions:read',
    answer: pageOf(CouponRedemptionDto),
    problems: [subscriptionNotFound],
  })
  async listSubscriptionCoupons(
    @Param('id', subscriptionId) id: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<CouponRedemptionDto>> {
    await this.subscriptions.get(id);
    const page = await this.redemptions.listBySubscription(id, toPageRequest(query, 'red'));
    return toPageDto(page, toCouponRedemptionDto);
  }

  @Post()
  @Operation({
    summary: 'Redeem a coupon on a subscription',
    description: 'It applies from the next invoice on.',
    access: 'subscriptions:write',
    answers: SUBSCRIPTION_OR_PREVIEW,
    key: 'required',
    problems: [...CHANGE_PROBLEMS, subscriptionNotRunning, ...REDEMPTION_PROBLEMS],
  })
  async redeemCouponOnSubscription(
    @Param('id', subscriptionId) id: string,
    @Body() { code }: RedeemCouponDto,
    @Query() { preview }: PreviewQueryDto,
    @IfMatch() expected: VersionCondition,
  ): SubscriptionOrPreview {
    return preview === true
      ? withETag(await this.couponsWorkflow.preview(id, code, expected), toSubscriptionPreviewDto)
      : withETag(await this.couponsWorkflow.redeem(id, code, expected), toSubscriptionDto);
  }

  @Delete(':redemption_id')
  @Operation({
    summary: 'Remove a coupon from a subscription',
    description: 'It no longer discounts new invoices. Earlier invoices stay unchanged.',
    access: 'subscriptions:write',
    problems: [...CHANGE_PROBLEMS, couponRedemptionNotFound, outcomeUnknown],
  })
  async removeCouponFromSubscription(
    @Param('id', subscriptionId) id: string,
    @Param('redemption_id', redemptionId) redemption: string,
  ): Promise<void> {
    await this.couponsWorkflow.remove(id, redemption);
  }
}
