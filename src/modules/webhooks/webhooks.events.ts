import { type Answer, createdAnswer } from '../../platform/idempotency';
import { defineEvents } from '../../platform/outbox';
import type { WebhookEndpoint } from './domain/webhook-endpoint';
import {
  toCreatedWebhookEndpointDto,
  toWebhookEndpointDto,
  WebhookEndpointDto,
} from './dto/webhook-endpoint.dto';

const webhookEndpointEvent = defineEvents(WebhookEndpointDto, toWebhookEndpointDto);

export const webhookEndpointCreated = webhookEndpointEvent(
  'webhook_endpoint.created',
  'A webhook endpoint was registered.',
);

export const webhookEndpointUpdated = webhookEndpointEvent(
  'webhook_endpoint.updated',
  'A webhook endpoint was changed, or its secret was rotated. After a rotation `previous` is empty. Events never contain the secret.',
);

export const webhookEndpointDeleted = webhookEndpointEvent(
  'webhook_endpoint.deleted',
  'A webhook endpoint was deleted. The event contains its last state.',
);

export const webhookEndpointDisabled = webhookEndpointEvent(
  'webhook_endpoint.disabled',
  'The engine disabled a webhook endpoint: it answered 410 (`gone`), or all attempts failed for 120 hours (`failing`).',
  { is_active: false, disabled_reason: 'failing' },
);

export const webhookEndpointTested = webhookEndpointEvent(
  'webhook_endpoint.tested',
  'A test event was requested. It is sent to that endpoint only, regardless of its subscribed events.',
);

/** Returns the HTTP response to the registration of an endpoint, which is also stored for repeated requests. */
export function createdEndpointAnswer(
  endpoint: WebhookEndpoint,
  unknownEvents: readonly string[],
): Answer {
  return createdAnswer(toCreatedWebhookEndpointDto(endpoint, unknownEvents), endpoint.version);
}
