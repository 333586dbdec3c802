import { defineEvent } from '../../platform/outbox';
import { toWebhookEndpointDto, WebhookEndpointDto } from './dto/webhook-endpoint.dto';

export const webhookEndpointCreated = defineEvent({
  type: 'webhook_endpoint.created',
  meaning: 'A webhook endpoint was registered.',
  dto: WebhookEndpointDto,
  toDto: toWebhookEndpointDto,
});

export const webhookEndpointUpdated = defineEvent({
  type: 'webhook_endpoint.updated',
  meaning:
    'A webhook endpoint was changed, or its secret rotated. After a rotation `previous` is empty; the secret is in no event.',
  dto: WebhookEndpointDto,
  toDto: toWebhookEndpointDto,
});

export const webhookEndpointDeleted = defineEvent({
  type: 'webhook_endpoint.deleted',
  meaning: 'A webhook endpoint was deleted; it is told as it was.',
  dto: WebhookEndpointDto,
  toDto: toWebhookEndpointDto,
});
