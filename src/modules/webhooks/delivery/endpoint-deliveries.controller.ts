import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { invalidCursor } from '../../../platform/errors';
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
  replayTooLarge,
  webhookEndpointInactive,
  webhookEndpointNotFound,
} from '../webhooks.errors';
import { DeliveriesService } from './deliveries.service';
import {
  ListDeliveriesDto,
  ReplayDto,
  ReplayedDto,
  toReplayRequest,
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
    status: 200,
    answer: pageOf(WebhookDeliveryDto),
    reads: 'query',
    problems: [webhookEndpointNotFound, invalidCursor],
  })
  async listWebhookDeliveries(
    @Param('id', endpointId) id: string,
    @Query() query: ListDeliveriesDto,
  ): Promise<PageDto<WebhookDeliveryDto>> {
    const request = toPageRequest(query, 'whd');
    return toPageDto(
      await this.deliveries.list(id, query.status ?? null, request),
      toWebhookDeliveryDto,
    );
  }

  @Post('test')
  @NoFields()
  @Operation({
    summary: 'Send a sample to a webhook endpoint',
    description:
      'Sends `webhook_endpoint.tested` to this endpoint alone, whatever it subscribed to, signed and retried like any event.',
    status: 201,
    answer: WebhookDeliveryDto,
    reads: 'post',
    problems: [webhookEndpointNotFound, webhookEndpointInactive],
  })
  async testWebhookEndpoint(@Param('id', endpointId) id: string): Promise<WebhookDeliveryDto> {
    return toWebhookDeliveryDto(await this.deliveries.test(id));
  }

  @Post('replay')
  @Operation({
    summary: 'Send the events of a time once more',
    description:
      'Makes new deliveries of events that happened in `[from, to)`, with the same `webhook-id` as before.',
    status: 200,
    answer: ReplayedDto,
    reads: 'post',
    problems: [webhookEndpointNotFound, webhookEndpointInactive, replayTooLarge],
  })
  async replayWebhookEvents(
    @Param('id', endpointId) id: string,
    @Body() body: ReplayDto,
  ): Promise<ReplayedDto> {
    return { replayed: await this.deliveries.replay(id, toReplayRequest(body)) };
  }
}
