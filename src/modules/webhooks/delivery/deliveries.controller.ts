import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  IdPipe,
  NoFields,
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
import {
  ListDeliveriesDto,
  toDeliveryFilter,
  toWebhookDeliveryDto,
  toWebhookDeliveryWithAttemptsDto,
  WebhookDeliveryDto,
  WebhookDeliveryWithAttemptsDto,
} from './dto/webhook-delivery.dto';

const deliveryId = new IdPipe('whd', webhookDeliveryNotFound);

@ApiTags('Webhooks')
@Controller('v1/webhooks/deliveries')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

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

  @Get(':id')
  @Operation({
    summary: 'Read a webhook delivery',
    description: 'Includes every attempt that ended: its time, its duration and the response.',
    access: 'webhooks:read',
    answer: WebhookDeliveryWithAttemptsDto,
    problems: [webhookDeliveryNotFound],
  })
  async getWebhookDelivery(
    @Param('id', deliveryId) id: string,
  ): Promise<WebhookDeliveryWithAttemptsDto> {
    const { delivery, attempts } = await this.deliveries.get(id);
    return toWebhookDeliveryWithAttemptsDto(delivery, attempts);
  }

  @Post(':id/retry')
  @NoFields()
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
