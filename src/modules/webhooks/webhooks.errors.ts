import { defineProblem } from '../../platform/errors';
import { MOST_ENDPOINTS } from './domain/webhook-endpoint';
import { MOST_REPLACED_SECRETS } from './domain/webhook-secret';

export const webhookEndpointNotFound = defineProblem(
  {
    code: 'webhook_endpoint_not_found',
    kind: 'not_found',
    title: 'There is no such webhook endpoint',
    meaning: 'The id in the path is not the id of a webhook endpoint, or it was deleted.',
  },
  (id: string) => ({ detail: `There is no webhook endpoint ${JSON.stringify(id)}.` }),
);

export const webhookUrlNotAllowed = defineProblem(
  {
    code: 'webhook_url_not_allowed',
    kind: 'rule_broken',
    title: 'Webhooks may not go to this URL',
    meaning:
      'The URL leads to an address that is not public, or uses a port that is not allowed. The settings `WEBHOOKS_ALLOW_PRIVATE_NETWORKS` and `WEBHOOKS_ALLOWED_PORTS` say what is; `errors` says which it was.',
  },
  (fault: string) => ({
    detail: `The URL ${fault}.`,
    errors: [{ pointer: '/url', code: 'not_allowed', message: fault }],
  }),
);

export const tooManyWebhookEndpoints = defineProblem(
  {
    code: 'too_many_webhook_endpoints',
    kind: 'rule_broken',
    title: 'There are as many webhook endpoints as there can be',
    meaning: `At most ${MOST_ENDPOINTS} endpoints can exist at once. Delete one, or subscribe an existing one to more events.`,
  },
  () => ({ detail: `There are ${MOST_ENDPOINTS} webhook endpoints already.` }),
);

export const webhookEndpointInactive = defineProblem(
  {
    code: 'webhook_endpoint_inactive',
    kind: 'conflict',
    title: 'The webhook endpoint is switched off',
    meaning:
      'Nothing is sent to an endpoint that is not active. Switch it on (`is_active: true`) first.',
  },
  (id: string) => ({ detail: `The webhook endpoint ${id} is switched off.` }),
);

export const webhookDeliveryNotFound = defineProblem(
  {
    code: 'webhook_delivery_not_found',
    kind: 'not_found',
    title: 'There is no such webhook delivery',
    meaning: 'The id in the path is not the id of a delivery.',
  },
  (id: string) => ({ detail: `There is no webhook delivery ${JSON.stringify(id)}.` }),
);

export const webhookDeliveryPending = defineProblem(
  {
    code: 'webhook_delivery_pending',
    kind: 'conflict',
    title: 'The delivery has not ended',
    meaning: 'Only a delivery that succeeded, failed or was discarded can be sent once more.',
  },
  (id: string) => ({ detail: `The delivery ${id} is still pending and will be attempted again.` }),
);

export const replayTooLarge = defineProblem(
  {
    code: 'replay_too_large',
    kind: 'rule_broken',
    title: 'Too many events for one replay',
    meaning:
      'One replay sends at most 100,000 events. Ask for a shorter time, or for fewer events.',
  },
  () => ({ detail: 'The time holds more than 100,000 of these events.' }),
);

export const eventNotFound = defineProblem(
  {
    code: 'event_not_found',
    kind: 'not_found',
    title: 'There is no such event',
    meaning: 'The id in the path is not the id of an event.',
  },
  (id: string) => ({ detail: `There is no event ${JSON.stringify(id)}.` }),
);

export const tooManyWebhookSecrets = defineProblem(
  {
    code: 'too_many_webhook_secrets',
    kind: 'conflict',
    title: 'The secret was rotated too often within a day',
    meaning: `A replaced secret stays good for 24 hours, and at most ${MOST_REPLACED_SECRETS} of them are kept. Rotate again once one has expired.`,
  },
  (id: string) => ({
    detail: `The webhook endpoint ${id} has ${MOST_REPLACED_SECRETS} replaced secrets that are still good.`,
  }),
);
