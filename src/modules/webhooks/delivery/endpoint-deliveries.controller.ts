import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import {
  IdPipe,
  Operation,
  type PageDto,
  pageOf,
  toPageDto,
  toPageRequest,
} from '../../../platform/http';
import { webhookEndpointInactive, webhookEndpointNotFound } from '../webhooks.errors';
import { DeliveriesService } from './deliveries.service';
import {
  ListEndpointDeliveriesDto,
  toWebhookDeliveryDto,
  WebhookDeliveryDto,
} from './dto/webhook-delivery.dto';

const endpointId = new IdPipe('whe', webhookEndpointNotFound);

@ApiTags('Webhooks')
@Controller('v1/webhooks/endpoints/:id')
export class EndpointDeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get('deliveries')
  @Operation({
    summary: 'List the deliveries to a webhook endpoint',
    description: 'Newest first, each with its status.',
    access: 'webhooks:read',
    answer: pageOf(WebhookDeliveryDto),
    problems: [webhookEndpointNotFound],
  })
  async listWebhookDeliveries(
    @Param('id', endpointId) id: string,
    @Query() query: ListEndpointDeliveriesDto,
  ): Promise<PageDto<WebhookDeliveryDto>> {
    const request = toPageRequest(query, 'whd');
    return toPageDto(
      await this.deliveries.listOf(id, query.status ?? null, request),
      toWebhookDeliveryDto,
    );
  }

  @Post('test')
  @Operation({
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Sends `webhook_endpoint.tested` to this endpoint only, regardless of its subscribed events. It is signed and retried like any event.',
    access: 'webhooks:write',
    status: 201,
    answer: WebhookDeliveryDto,
    key: 'optional',
    problems: [webhookEndpointNotFound, webhookEndpointInactive],
  })
  async testWebhookEndpoint(@Param('id', endpointId) id: string): Promise<WebhookDeliveryDto> {
    return toWebhookDeliveryDto(await this.deliveries.test(id));
  }
}
