import { type Answer, createdAnswer } from '../../platform/idempotency';
import { defineEvent } from '../../platform/outbox';
import type { WebhookEndpoint } from './domain/webhook-endpoint';
import {
  toCreatedWebhookEndpointDto,
  toWebhookEndpointDto,
  WebhookEndpointDto,
} from './dto/webhook-endpoint.dto';

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

export const webhookEndpointDisabled = defineEvent({
  type: 'webhook_endpoint.disabled',
  meaning:
    'The engine switched a webhook endpoint off: it answered 410 (`gone`), or nothing but failures for 120 hours (`failing`).',
  dto: WebhookEndpointDto,
  toDto: toWebhookEndpointDto,
});

export const webhookEndpointTested = defineEvent({
  type: 'webhook_endpoint.tested',
  meaning:
    'Somebody asked for a sample; it is sent to that endpoint alone, whatever it subscribed to.',
  dto: WebhookEndpointDto,
  toDto: toWebhookEndpointDto,
});

/** What the request that registered the endpoint is answered, now and whenever it is repeated. */
export function answerAbout(endpoint: WebhookEndpoint, unknownEvents: readonly string[]): Answer {
  return createdAnswer(toCreatedWebhookEndpointDto(endpoint, unknownEvents), endpoint.version);
}
