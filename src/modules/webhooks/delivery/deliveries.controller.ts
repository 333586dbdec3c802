import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { mayReadEvents } from '../../../core/access';
import { Caller, type Principal } from '../../../platform/access';
import { referenceNotFound } from '../../../platform/errors';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../../platform/http';
import {
  webhookDeliveryNotFound,
  webhookDeliveryPending,
  webhookEndpointInactive,
  webhookEndpointNotFound,
} from '../webhooks.errors';
import { DeliveriesService } from './deliveries.service';
import { MAX_RETRIED } from './domain/delivery';
import {
  RetriedDeliveriesDto,
  RetryDeliveriesDto,
  toRetriedDeliveriesDto,
} from './dto/retry-deliveries.dto';
import {
  ListDeliveriesDto,
  toDeliveryFilter,
  toWebhookDeliveryDto,
  toWebhookDeliveryWithAttemptsDto,
  WebhookDeliveryDto,
  WebhookDeliveryWithAttemptsDto,
} from './dto/webhook-delivery.dto';
import { RetryDeliveriesService } from './retry-deliveries.service';

const deliveryId = new IdPipe('whd', webhookDeliveryNotFound);

@ApiTags('Webhooks')
@Controller('v1/webhooks/deliveries')
export class DeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly retries: RetryDeliveriesService,
  ) {}

  @Get()
  @Operation({
    summary: 'List webhook deliveries',
    description: 'The deliveries to all endpoints, newest first.',
    access: 'webhooks:read',
    answer: pageOf(WebhookDeliveryDto),
  })
  async listDeliveries(@Query() query: ListDeliveriesDto): Promise<PageDto<WebhookDeliveryDto>> {
    const page = await this.deliveries.list(toDeliveryFilter(query), toPageRequest(query, 'whd'));
    return toPageDto(page, toWebhookDeliveryDto);
  }

  @Post('retry')
  @Operation({
    summary: 'Retry many webhook deliveries',
    description:
      `Creates new deliveries of the events of up to ${MAX_RETRIED.toLocaleString('en')} matching deliveries, the oldest first, ` +
      'with the same `webhook-id`. Leaves out inactive endpoints, and deliveries whose event was sent to the same ' +
      'endpoint again later: repeating the request sends nothing twice.',
    access: 'webhooks:write',
    answer: RetriedDeliveriesDto,
    key: 'optional',
    problems: [referenceNotFound, webhookEndpointInactive],
  })
  async retryWebhookDeliveries(@Body() body: RetryDeliveriesDto): Promise<RetriedDeliveriesDto> {
    return toRetriedDeliveriesDto(await this.retries.retryAll(toDeliveryFilter(body)));
  }

  @Get(':id')
  @Operation({
    summary: 'Read a webhook delivery',
    description:
      'Includes every attempt that ended, with the response if the caller may read the event.',
    access: 'webhooks:read',
    answer: WebhookDeliveryWithAttemptsDto,
    problems: [webhookDeliveryNotFound],
  })
  async getWebhookDelivery(
    @Param('id', deliveryId) id: string,
    @Caller() { scopes }: Principal,
  ): Promise<WebhookDeliveryWithAttemptsDto> {
    const { delivery, attempts } = await this.deliveries.get(id);
    const showsResponses = mayReadEvents(delivery.eventType, scopes);
    return toWebhookDeliveryWithAttemptsDto(delivery, attempts, showsResponses);
  }

  @Post(':id/retry')
  @Operation({
    summary: 'Retry a webhook delivery',
    description:
      'Creates a new delivery of the same event to the same endpoint, with the same `webhook-id`.',
    access: 'webhooks:write',
    status: 201,
    answer: WebhookDeliveryDto,
    key: 'optional',
    problems: [
      webhookDeliveryNotFound,
      webhookDeliveryPending,
      webhookEndpointInactive,
      webhookEndpointNotFound,
    ],
  })
  async retryWebhookDelivery(@Param('id', deliveryId) id: string): Promise<WebhookDeliveryDto> {
    return toWebhookDeliveryDto(await this.deliveries.retry(id));
  }
}
