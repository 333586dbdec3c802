import { defineNotFound, defineProblem } from '../../platform/errors';
import { MAX_ENDPOINTS } from './domain/webhook-endpoint';
import { MAX_REPLACED_SECRETS } from './domain/webhook-secret';

export const webhookEndpointNotFound = defineNotFound(
  'webhook_endpoint_not_found',
  'a webhook endpoint',
  'it was deleted',
);

export const webhookUrlNotAllowed = defineProblem({
  code: 'webhook_url_not_allowed',
  kind: 'rule_broken',
  title: 'The webhook URL is not allowed',
  meaning:
    'The host of the URL has an address that is not public, or the port is not allowed. See the settings `WEBHOOKS_ALLOW_PRIVATE_NETWORKS` and `WEBHOOKS_ALLOWED_PORTS`; `errors` holds the reason.',
  occurrence: (fault: string) => ({
    detail: `The URL ${fault}.`,
    errors: [{ pointer: '/url', code: 'not_allowed', message: fault }],
  }),
});

export const tooManyWebhookEndpoints = defineProblem({
  code: 'too_many_webhook_endpoints',
  kind: 'rule_broken',
  title: 'The limit of webhook endpoints is reached',
  meaning: `At most ${MAX_ENDPOINTS} webhook endpoints can exist. Delete one, or subscribe an existing one to more events.`,
  detail: () =>
    `There are already ${MAX_ENDPOINTS} webhook endpoints. Delete one, or subscribe an existing one to more events.`,
});

export const webhookEndpointInactive = defineProblem({
  code: 'webhook_endpoint_inactive',
  kind: 'conflict',
  title: 'The webhook endpoint is inactive',
  meaning: 'No events are sent to an inactive endpoint. Enable it first with `is_active: true`.',
  detail: (id: string) =>
    `The webhook endpoint ${id} is inactive. Enable it first with is_active: true.`,
});

export const webhookDeliveryNotFound = defineProblem({
  code: 'webhook_delivery_not_found',
  kind: 'not_found',
  title: 'There is no such webhook delivery',
  meaning: 'The id in the path is not the id of a delivery.',
  detail: (id: string) => `There is no webhook delivery ${JSON.stringify(id)}.`,
});

export const webhookDeliveryPending = defineProblem({
  code: 'webhook_delivery_pending',
  kind: 'conflict',
  title: 'The webhook delivery is still pending',
  isTemporary: true,
  meaning: 'Wait until the delivery has succeeded, failed or been discarded.',
  detail: (id: string) =>
    `The webhook delivery ${id} is still pending and will be attempted automatically.`,
});

export const webhookReplayNotFound = defineProblem({
  code: 'webhook_replay_not_found',
  kind: 'not_found',
  title: 'There is no such replay',
  meaning: 'The id in the path is not the id of a replay to this webhook endpoint.',
  detail: (id: string) => `There is no replay ${JSON.stringify(id)} to this endpoint.`,
});

export const webhookReplayRunning = defineProblem({
  code: 'webhook_replay_running',
  kind: 'conflict',
  isTemporary: true,
  title: 'Another replay to the webhook endpoint is running',
  meaning: 'Only one replay runs per endpoint. Wait until the replay `replay_id` has ended.',
  occurrence: (endpointId: string, replayId: string) => ({
    detail: `The replay ${replayId} to the webhook endpoint ${endpointId} is still running. Wait until it has ended.`,
    extensions: { replay_id: replayId },
  }),
});

export const eventNotFound = defineNotFound('event_not_found', 'an event');

export const tooManyWebhookSecrets = defineProblem({
  code: 'too_many_webhook_secrets',
  kind: 'conflict',
  isTemporary: true,
  title: 'The webhook secret was rotated too often',
  meaning: `A replaced secret stays valid for 24 hours, and an endpoint keeps at most ${MAX_REPLACED_SECRETS} of them. Rotate again after one has expired.`,
  detail: (id: string) =>
    `The webhook endpoint ${id} has ${MAX_REPLACED_SECRETS} replaced secrets that are still valid. Rotate again after one has expired.`,
});
