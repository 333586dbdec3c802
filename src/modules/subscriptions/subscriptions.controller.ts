import { Body, Controller, Get, Param, Patch, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { VersionCondition } from '../../platform/database';
import { metadataTooLarge, tooManyReports } from '../../platform/errors';
import {
  IdPipe,
  IfMatch,
  ListQueryDto,
  Operation,
  type PageDto,
  pageOf,
  type SummaryDto,
  toSummaryDto,
  toPageDto,
  toPageRequest,
  withETag,
} from '../../platform/http';
import { ExpandsPlans, withPlan } from '../catalog';
import { ExpandsCustomers, withCustomer } from '../customers';
import { TEST_CLOCK_PROBLEMS } from '../test-clocks';
import {
  SubscriptionFilterDto,
  SubscriptionSummaryDto,
  ListSubscriptionsDto,
  toSubscriptionFilter,
} from './dto/list-subscriptions.dto';
import { ScheduledChangeDto, toScheduledChangeDto } from './dto/scheduled-change.dto';
import { SubscriptionDto, toSubscriptionDto } from './dto/subscription.dto';
import { UpdateSubscriptionDto } from './dto/update-subscription.dto';
import { EditSubscriptionService } from './edit-subscription.service';
import { subscriptionNotFound } from './subscriptions.errors';
import { SubscriptionsService } from './subscriptions.service';

const subscriptionId = new IdPipe('sub', subscriptionNotFound);

@ApiTags('Subscriptions')
@Controller('v1/subscriptions')
export class SubscriptionsController {
  constructor(
    private readonly subscriptionsService: SubscriptionsService,
    private readonly editSubscriptionService: EditSubscriptionService,
  ) {}

  @Get()
  @ExpandsCustomers()
  @ExpandsPlans()
  @Operation({
    summary: 'List subscriptions',
    description:
      'Newest first, canceled subscriptions included. With `renews_from` or `renews_to`, latest end of the current period first.',
    access: 'subscriptions:read',
    answer: pageOf(withPlan(withCustomer(SubscriptionDto))),
  })
  async listSubscriptions(@Query() query: ListSubscriptionsDto): Promise<PageDto<SubscriptionDto>> {
    const request = toPageRequest(query, 'sub');
    const page = await this.subscriptionsService.list(toSubscriptionFilter(query), request);
    return toPageDto(page, toSubscriptionDto);
  }

  @Get('summary')
  @Operation({
    summary: 'Sum up subscriptions',
    description: 'Counts the subscriptions that match the filters of the list, by currency.',
    access: 'subscriptions:read',
    answer: SubscriptionSummaryDto,
    problems: [tooManyReports],
  })
  async summarizeSubscriptions(@Query() query: SubscriptionFilterDto): Promise<SummaryDto> {
    return toSummaryDto(await this.subscriptionsService.summarize(toSubscriptionFilter(query)));
  }

  @Get(':id')
  @Operation({
    summary: 'Read a subscription',
    description:
      'Returns the subscription with its plan, add-ons and current period. `renewal_failed_at` is set while a renewal cannot be billed.',
    access: 'subscriptions:read',
    answer: SubscriptionDto,
    conditional: true,
    problems: [subscriptionNotFound],
  })
  async getSubscription(@Param('id', subscriptionId) id: string): Promise<SubscriptionDto> {
    return withETag(await this.subscriptionsService.get(id), toSubscriptionDto);
  }

  @Patch(':id')
  @Operation({
    summary: 'Update the metadata of a subscription',
    description:
      'To change what is billed, use `POST /{id}/change`. An empty body changes nothing.',
    access: 'subscriptions:write',
    answer: SubscriptionDto,
    problems: [subscriptionNotFound, metadataTooLarge, ...TEST_CLOCK_PROBLEMS],
  })
  async updateSubscription(
    @Param('id', subscriptionId) id: string,
    @Body() body: UpdateSubscriptionDto,
    @IfMatch() expected: VersionCondition,
  ): Promise<SubscriptionDto> {
    return withETag(
      await this.editSubscriptionService.updateMetadata(id, body.metadata, expected),
      toSubscriptionDto,
    );
  }

  @Get(':id/scheduled-changes')
  @Operation({
    summary: 'List the scheduled changes of a subscription',
    description: 'Includes pending, applied and undone changes.',
    access: 'subscriptions:read',
    answer: pageOf(ScheduledChangeDto),
    problems: [subscriptionNotFound],
  })
  async listScheduledChanges(
    @Param('id', subscriptionId) id: string,
    @Query() query: ListQueryDto,
  ): Promise<PageDto<ScheduledChangeDto>> {
    const page = await this.subscriptionsService.scheduledChanges(id, toPageRequest(query, 'sch'));
    return toPageDto(page, toScheduledChangeDto);
  }
}
