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
    'A webhook endpoint was changed, or its secret was rotated. After a rotation `previous` is empty. Events never contain the secret.',
  dto: WebhookEndpointDto,
  toDto: toWebhookEndpointDto,
});

export const webhookEndpointDeleted = defineEvent({
  type: 'webhook_endpoint.deleted',
  meaning: 'A webhook endpoint was deleted. The event contains its last state.',
  dto: WebhookEndpointDto,
  toDto: toWebhookEndpointDto,
});

export const webhookEndpointDisabled = defineEvent({
  type: 'webhook_endpoint.disabled',
  meaning:
    'The engine disabled a webhook endpoint: it answered 410 (`gone`), or all attempts failed for 120 hours (`failing`).',
  dto: WebhookEndpointDto,
  toDto: toWebhookEndpointDto,
});

export const webhookEndpointTested = defineEvent({
  type: 'webhook_endpoint.tested',
  meaning:
    'A test event was requested. It is sent to that endpoint only, regardless of its subscribed events.',
  dto: WebhookEndpointDto,
  toDto: toWebhookEndpointDto,
});

/** Returns the response to the request that registered the endpoint; repeated requests get the same response. */
export function answerAbout(endpoint: WebhookEndpoint, unknownEvents: readonly string[]): Answer {
  return createdAnswer(toCreatedWebhookEndpointDto(endpoint, unknownEvents), endpoint.version);
}
