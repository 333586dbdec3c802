import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../platform/database';
import {
  invalidCursor,
  invalidTransition,
  metadataTooLarge,
  outcomeUnknown,
  referenceNotFound,
} from '../../platform/errors';
import {
  IdPipe,
  IfMatch,
  ListQueryDto,
  NoFields,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../platform/http';
import {
  couponAlreadyRedeemed,
  couponCodeUnknown,
  couponCurrencyMismatch,
  couponExhausted,
  couponExpired,
  couponInactive,
  couponNotForPlan,
} from '../coupons';
import { customerCurrencyMismatch } from '../customers';
import { invoiceTooLarge } from '../invoicing';
import { testClockAdvancing, testClockFailed } from '../test-clocks';
import { CreateSubscriptionService } from './create-subscription.service';
import { ScheduledChangeDto, toScheduledChangeDto } from './dto/scheduled-change.dto';
import {
  CancelSubscriptionDto,
  ChangeSubscriptionDto,
  CreateSubscriptionDto,
  ListSubscriptionsDto,
  PreviewQueryDto,
  RedeemCouponDto,
  toCancelSubscription,
  toChangeSubscription,
  toCreateSubscription,
} from './dto/subscription-commands.dto';
import { SubscriptionPreviewDto, toSubscriptionPreviewDto } from './dto/subscription-preview.dto';
import { SubscriptionDto, toSubscriptionDto } from './dto/subscription.dto';
import { UpdateSubscriptionDto } from './dto/update-subscription.dto';
import { EditSubscriptionService } from './edit-subscription.service';
import {
  scheduledChangeNotFound,
  subscriptionBehind,
  subscriptionChangePending,
  subscriptionCustomerDeleted,
  subscriptionNotCanceling,
  subscriptionNotFound,
  subscriptionNotRunning,
  subscriptionTermsContradict,
} from './subscriptions.errors';
import { SubscriptionsService } from './subscriptions.service';

const subscriptionId = new IdPipe('sub', subscriptionNotFound);
const changeId = new IdPipe('sch', scheduledChangeNotFound);

const ON_A_CLOCK = [testClockAdvancing, testClockFailed];
const REDEEMING = [
  couponCodeUnknown,
  couponInactive,
  couponExpired,
  couponExhausted,
  couponNotForPlan,
  couponCurrencyMismatch,
  couponAlreadyRedeemed,
];
const OFFERING = [
  referenceNotFound,
  customerCurrencyMismatch,
  subscriptionTermsContradict,
  invoiceTooLarge,
];
const CHANGING = [
  subscriptionNotFound,
  subscriptionCustomerDeleted,
  subscriptionBehind,
  ...ON_A_CLOCK,
];

const SUBSCRIPTION_OR_PREVIEW = {
  subscription: SubscriptionDto,
  subscription_preview: SubscriptionPreviewDto,
};
type SubscriptionOrPreview = Promise<SubscriptionDto | SubscriptionPreviewDto>;

@ApiTags('Subscriptions')
@Controller('v1/subscriptions')
export class SubscriptionsController {
  constructor(
    private readonly creating: CreateSubscriptionService,
    private readonly subscriptions: SubscriptionsService,
    private readonly editing: EditSubscriptionService,
  ) {}

  @Post()
  @Operation({
    summary: 'Subscribe a customer',
    description:
      'Bills what the plan and the add-ons cost in advance, unless the start lies ahead or a trial comes first. A start in ' +
      'the past, at most two years and 366 periods back, bills its first period at once; the periods since follow in the ' +
      'background, one after the other, each with a `subscription.renewed` event. With ' +
      '`payment_behavior: default_incomplete` it is active once that is paid.',
    access: 'subscriptions:write',
    status: 201,
    answer: SubscriptionDto,
    preview: SubscriptionPreviewDto,
    reads: 'post',
    key: 'required',
    problems: [...OFFERING, ...REDEEMING, ...ON_A_CLOCK],
  })
  async createSubscription(
    @Body() body: CreateSubscriptionDto,
    @Query() { preview }: PreviewQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): SubscriptionOrPreview {
    const command = toCreateSubscription(body);
    if (preview === true) {
      response.status(200);
      return toSubscriptionPreviewDto(await this.creating.preview(command));
    }
    return withETag(await this.creating.create(command), toSubscriptionDto);
  }

  @Get()
  @Operation({
    summary: 'List subscriptions',
    description: 'Newest first, canceled subscriptions included.',
    access: 'subscriptions:read',
    status: 200,
    answer: pageOf(SubscriptionDto),
    reads: 'query',
    problems: [invalidCursor],
  })
  async listSubscriptions(@Query() query: ListSubscriptionsDto): Promise<PageDto<SubscriptionDto>> {
    const filter = { customerId: query.customer_id ?? null, status: query.status ?? null };
    const page = await this.subscriptions.list(filter, toPageRequest(query, 'sub'));
    return toPageDto(page, toSubscriptionDto);
  }

  @Get(':id')
  @Operation({
    summary: 'Read a subscription',
    description: 'Returns the subscription with its plan, add-ons and current period.',
    access: 'subscriptions:read',
    status: 200,
    answer: SubscriptionDto,
    reads: 'path',
    problems: [subscriptionNotFound],
  })
  async getSubscription(@Param('id', subscriptionId) id: string): Promise<SubscriptionDto> {
    return withETag(await this.subscriptions.get(id), toSubscriptionDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update the metadata of a subscription',
    description:
      'What is billed is changed with `POST /{id}/change`. Nothing sent changes nothing.',
    access: 'subscriptions:write',
    status: 200,
    answer: SubscriptionDto,
    reads: 'change',
    problems: [subscriptionNotFound, metadataTooLarge, ...ON_A_CLOCK],
  })
  async updateSubscription(
    @Param('id', subscriptionId) id: string,
    @Body() body: UpdateSubscriptionDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<SubscriptionDto> {
    return withETag(
      await this.editing.updateMetadata(id, body.metadata, expected),
      toSubscriptionDto,
    );
  }

  @Post(':id/change')
  @Operation({
    summary: 'Change plan, quantity or add-ons',
    description:
      'Now, what was paid in advance and is not used is credited and the rest of the period charged. Another interval ends ' +
      'the period and counts anew. The version of the plan stays unless `plan_id` or `plan_version` is sent; what stays as ' +
      'it is, is not billed, and a change to what is there already is a no-op. With `when: period_end` the change waits, and can be undone until then.',
    access: 'subscriptions:write',
    status: 200,
    answers: SUBSCRIPTION_OR_PREVIEW,
    reads: 'post',
    key: 'required',
    problems: [...CHANGING, subscriptionNotRunning, subscriptionChangePending, ...OFFERING],
  })
  async changeSubscription(
    @Param('id', subscriptionId) id: string,
    @Body() body: ChangeSubscriptionDto,
    @Query() { preview }: PreviewQueryDto,
  ): SubscriptionOrPreview {
    const command = toChangeSubscription(body);
    return preview === true
      ? toSubscriptionPreviewDto(await this.subscriptions.previewChange(id, command))
      : toSubscriptionDto(await this.subscriptions.change(id, command));
  }

  @Post(':id/cancel')
  @Operation({
    summary: 'End a subscription',
    description:
      'Now, with the period, or at an instant, with or without credit for what is unused. One that waits for its first ' +
      'payment ends now alone, and its invoice with it.',
    access: 'subscriptions:write',
    status: 200,
    answers: SUBSCRIPTION_OR_PREVIEW,
    reads: 'post',
    key: 'required',
    problems: [
      ...CHANGING,
      invalidTransition,
      subscriptionNotRunning,
      subscriptionChangePending,
      subscriptionTermsContradict,
    ],
  })
  async cancelSubscription(
    @Param('id', subscriptionId) id: string,
    @Body() body: CancelSubscriptionDto,
    @Query() { preview }: PreviewQueryDto,
  ): SubscriptionOrPreview {
    const command = toCancelSubscription(body);
    return preview === true
      ? toSubscriptionPreviewDto(await this.subscriptions.previewCancel(id, command))
      : toSubscriptionDto(await this.subscriptions.cancel(id, command));
  }

  @Post(':id/uncancel')
  @NoFields()
  @Operation({
    summary: 'Take back a planned end',
    description: 'Removes a cancellation that has not taken effect. The subscription renews again.',
    access: 'subscriptions:write',
    status: 200,
    answers: SUBSCRIPTION_OR_PREVIEW,
    reads: 'post',
    key: 'required',
    problems: [...CHANGING, subscriptionNotCanceling],
  })
  async uncancelSubscription(
    @Param('id', subscriptionId) id: string,
    @Query() { preview }: PreviewQueryDto,
  ): SubscriptionOrPreview {
    return preview === true
      ? toSubscriptionPreviewDto(await this.subscriptions.previewUncancel(id))
      : toSubscriptionDto(await this.subscriptions.uncancel(id));
  }

  @Post(':id/pause')
  @NoFields()
  @Operation({
    summary: 'Pause a subscription',
    description:
      'What was paid in advance stays paid, prices in arrears stop, and no further period begins until it is resumed.',
    access: 'subscriptions:write',
    status: 200,
    answers: SUBSCRIPTION_OR_PREVIEW,
    reads: 'post',
    key: 'required',
    problems: [...CHANGING, invalidTransition, subscriptionChangePending],
  })
  async pauseSubscription(
    @Param('id', subscriptionId) id: string,
    @Query() { preview }: PreviewQueryDto,
  ): SubscriptionOrPreview {
    return preview === true
      ? toSubscriptionPreviewDto(await this.subscriptions.previewPause(id))
      : toSubscriptionDto(await this.subscriptions.pause(id));
  }

  @Post(':id/resume')
  @NoFields()
  @Operation({
    summary: 'Resume a paused subscription',
    description:
      'Within the period that was paid it goes on; after it a new period begins now, and periods count from there.',
    access: 'subscriptions:write',
    status: 200,
    answers: SUBSCRIPTION_OR_PREVIEW,
    reads: 'post',
    key: 'required',
    problems: [...CHANGING, invalidTransition],
  })
  async resumeSubscription(
    @Param('id', subscriptionId) id: string,
    @Query() { preview }: PreviewQueryDto,
  ): SubscriptionOrPreview {
    return preview === true
      ? toSubscriptionPreviewDto(await this.subscriptions.previewResume(id))
      : toSubscriptionDto(await this.subscriptions.resume(id));
  }

  @Post(':id/coupons')
  @Operation({
    summary: 'Redeem a coupon on a subscription',
    description: 'It counts from the next invoice on.',
    access: 'subscriptions:write',
    status: 200,
    answers: SUBSCRIPTION_OR_PREVIEW,
    reads: 'post',
    key: 'required',
    problems: [...CHANGING, subscriptionNotRunning, ...REDEEMING],
  })
  async redeemCouponOnSubscription(
    @Param('id', subscriptionId) id: string,
    @Body() { code }: RedeemCouponDto,
    @Query() { preview }: PreviewQueryDto,
  ): SubscriptionOrPreview {
    return preview === true
      ? toSubscriptionPreviewDto(await this.subscriptions.previewRedeem(id, code))
      : toSubscriptionDto(await this.subscriptions.redeem(id, code));
  }

  @Get(':id/scheduled-changes')
  @Operation({
    summary: 'List the scheduled changes of a subscription',
    description: 'Those that wait, that were done and that were undone.',
    access: 'subscriptions:read',
    status: 200,
    answer: pageOf(ScheduledChangeDto),
    reads: 'query',
    problems: [subscriptionNotFound, invalidCursor],
  })
  async listScheduledChanges(
    @Param('id', subscriptionId) id: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<ScheduledChangeDto>> {
    const page = await this.subscriptions.scheduledChanges(id, toPageRequest(query, 'sch'));
    return toPageDto(page, toScheduledChangeDto);
  }

  @Delete(':id/scheduled-changes/:change_id')
  @Operation({
    summary: 'Undo a scheduled change',
    description: 'It stays in the list as `undone`. A planned end is taken back the same way.',
    access: 'subscriptions:write',
    status: 204,
    reads: 'path',
    problems: [...CHANGING, scheduledChangeNotFound, invalidTransition, outcomeUnknown],
  })
  async undoScheduledChange(
    @Param('id', subscriptionId) id: string,
    @Param('change_id', changeId) change: string,
  ): Promise<void> {
    await this.subscriptions.undoScheduledChange(id, change);
  }
}
