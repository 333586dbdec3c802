import { Body, Controller, Delete, Param, Post, Query, Res, UseInterceptors } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { VersionCondition } from '../../../platform/database';
import { invalidTransition, outcomeUnknown, referenceNotFound } from '../../../platform/errors';
import { IdPipe, IfMatch, Operation, withETag } from '../../../platform/http';
import { customerCurrencyMismatch } from '../../customers';
import { invoiceTooLarge } from '../../invoicing';
import { usageArchived } from '../../metering';
import {
  planVersionChanged,
  scheduledChangeNotFound,
  subscriptionChangePending,
  SubscriptionDto,
  subscriptionNotCanceling,
  subscriptionNotFound,
  subscriptionNotRunning,
  subscriptionTermsContradict,
  subscriptionTooLarge,
  toSubscriptionDto,
} from '../../subscriptions';
import { TEST_CLOCK_PROBLEMS } from '../../test-clocks';
import {
  CancelSubscriptionDto,
  ChangeSubscriptionDto,
  CreateSubscriptionDto,
  PreviewQueryDto,
  toCancelSubscription,
  toChangeSubscription,
  toCreateSubscription,
} from '../dto/subscription-commands.dto';
import {
  SUBSCRIPTION_OR_PREVIEW,
  SubscriptionPreviewDto,
  type SubscriptionOrPreview,
  toSubscriptionPreviewDto,
} from '../dto/subscription-preview.dto';
import { CHANGE_PROBLEMS, REDEMPTION_PROBLEMS } from './command-problems';
import {
  ChangeSubscriptionWorkflow,
  type SubscriptionCommand,
} from './change-subscription.workflow';
import { StartTurnsInterceptor } from './start-turns.interceptor';
import { SubscribeWorkflow } from './subscribe.workflow';

const subscriptionId = new IdPipe('sub', subscriptionNotFound);
const changeId = new IdPipe('sch', scheduledChangeNotFound);

const OFFER_PROBLEMS = [
  planVersionChanged,
  referenceNotFound,
  customerCurrencyMismatch,
  subscriptionTermsContradict,
  subscriptionTooLarge,
  invoiceTooLarge,
];

@ApiTags('Subscriptions')
@Controller('v1/subscriptions')
export class SubscriptionCommandsController {
  constructor(
    private readonly subscribeWorkflow: SubscribeWorkflow,
    private readonly changeSubscriptionWorkflow: ChangeSubscriptionWorkflow,
  ) {}

  @Post()
  @Operation({
    summary: 'Subscribe a customer',
    description:
      'Bills the `in_advance` prices of the plan and the add-ons, unless the start is in the future or a trial comes first. With a ' +
      'start in the past, the first period is billed at once, and later ones in the background, each with a ' +
      '`subscription.renewed` event.',
    access: 'subscriptions:write',
    status: 201,
    answer: SubscriptionDto,
    preview: SubscriptionPreviewDto,
    key: 'required',
    problems: [...OFFER_PROBLEMS, usageArchived, ...REDEMPTION_PROBLEMS, ...TEST_CLOCK_PROBLEMS],
  })
  // Stands below `Operation`, so that the interceptor runs first: a request waits before the transaction begins that
  // claims its idempotency key.
  @UseInterceptors(StartTurnsInterceptor)
  async createSubscription(
    @Body() body: CreateSubscriptionDto,
    @Query() { preview }: PreviewQueryDto,
    @Res({ passthrough: true }) response: Response,
  ): SubscriptionOrPreview {
    const command = toCreateSubscription(body);
    if (preview === true) {
      response.status(200);
      return toSubscriptionPreviewDto(await this.subscribeWorkflow.preview(command));
    }
    return withETag(await this.subscribeWorkflow.subscribe(command), toSubscriptionDto);
  }

  @Post(':id/change')
  @Operation({
    summary: 'Change plan, quantity or add-ons',
    description:
      'Another interval ends the period and begins a new one. Unchanged prices are not billed again, and a change to the ' +
      'current terms is a no-op. With `when: period_end` the change waits for the end of the period, and can be undone ' +
      'until then.',
    access: 'subscriptions:write',
    answers: SUBSCRIPTION_OR_PREVIEW,
    key: 'required',
    problems: [
      ...CHANGE_PROBLEMS,
      subscriptionNotRunning,
      subscriptionChangePending,
      usageArchived,
      ...OFFER_PROBLEMS,
    ],
  })
  changeSubscription(
    @Param('id', subscriptionId) id: string,
    @Body() body: ChangeSubscriptionDto,
    @Query() { preview }: PreviewQueryDto,
    @IfMatch() expected: VersionCondition,
  ): SubscriptionOrPreview {
    return this.run(id, { kind: 'change', terms: toChangeSubscription(body) }, preview, expected);
  }

  @Post(':id/cancel')
  @Operation({
    summary: 'Cancel a subscription',
    description: 'An `incomplete` subscription can only be canceled now; its invoice becomes void.',
    access: 'subscriptions:write',
    answers: SUBSCRIPTION_OR_PREVIEW,
    key: 'required',
    problems: [
      ...CHANGE_PROBLEMS,
      invalidTransition,
      subscriptionNotRunning,
      subscriptionChangePending,
      subscriptionTermsContradict,
    ],
  })
  cancelSubscription(
    @Param('id', subscriptionId) id: string,
    @Body() body: CancelSubscriptionDto,
    @Query() { preview }: PreviewQueryDto,
    @IfMatch() expected: VersionCondition,
  ): SubscriptionOrPreview {
    return this.run(id, { kind: 'cancel', terms: toCancelSubscription(body) }, preview, expected);
  }

  @Post(':id/uncancel')
  @Operation({
    summary: 'Undo a scheduled cancellation',
    description: 'The subscription renews again.',
    access: 'subscriptions:write',
    answers: SUBSCRIPTION_OR_PREVIEW,
    key: 'required',
    problems: [...CHANGE_PROBLEMS, subscriptionNotCanceling],
  })
  uncancelSubscription(
    @Param('id', subscriptionId) id: string,
    @Query() { preview }: PreviewQueryDto,
    @IfMatch() expected: VersionCondition,
  ): SubscriptionOrPreview {
    return this.run(id, { kind: 'uncancel' }, preview, expected);
  }

  @Post(':id/pause')
  @Operation({
    summary: 'Pause a subscription',
    description:
      'What was paid in advance stays paid, prices in arrears stop, and no further period begins until it is resumed.',
    access: 'subscriptions:write',
    answers: SUBSCRIPTION_OR_PREVIEW,
    key: 'required',
    problems: [...CHANGE_PROBLEMS, invalidTransition, subscriptionChangePending],
  })
  pauseSubscription(
    @Param('id', subscriptionId) id: string,
    @Query() { preview }: PreviewQueryDto,
    @IfMatch() expected: VersionCondition,
  ): SubscriptionOrPreview {
    return this.run(id, { kind: 'pause' }, preview, expected);
  }

  @Post(':id/resume')
  @Operation({
    summary: 'Resume a paused subscription',
    description:
      'The paid period continues. If it has ended, a new one begins now; with `billing_anchor: anniversary`, later periods count from now.',
    access: 'subscriptions:write',
    answers: SUBSCRIPTION_OR_PREVIEW,
    key: 'required',
    problems: [...CHANGE_PROBLEMS, invalidTransition],
  })
  resumeSubscription(
    @Param('id', subscriptionId) id: string,
    @Query() { preview }: PreviewQueryDto,
    @IfMatch() expected: VersionCondition,
  ): SubscriptionOrPreview {
    return this.run(id, { kind: 'resume' }, preview, expected);
  }

  @Delete(':id/scheduled-changes/:change_id')
  @Operation({
    summary: 'Undo a scheduled change',
    description: 'It stays in the list as `undone`. Also undoes a scheduled cancellation.',
    access: 'subscriptions:write',
    problems: [...CHANGE_PROBLEMS, scheduledChangeNotFound, invalidTransition, outcomeUnknown],
  })
  async undoScheduledChange(
    @Param('id', subscriptionId) id: string,
    @Param('change_id', changeId) change: string,
  ): Promise<void> {
    await this.changeSubscriptionWorkflow.undoScheduledChange(id, change);
  }

  private async run(
    id: string,
    command: SubscriptionCommand,
    preview: boolean | undefined,
    expected: VersionCondition,
  ): SubscriptionOrPreview {
    return preview === true
      ? withETag(
          await this.changeSubscriptionWorkflow.preview(id, command, expected),
          toSubscriptionPreviewDto,
        )
      : withETag(
          await this.changeSubscriptionWorkflow.apply(id, command, expected),
          toSubscriptionDto,
        );
  }
}
