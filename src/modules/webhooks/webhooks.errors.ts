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

export const tooManyWebhookEndpoints = defineProblem(
  {
    code: 'too_many_webhook_endpoints',
    kind: 'rule_broken',
    title: 'There are as many webhook endpoints as there can be',
    meaning: `At most ${MOST_ENDPOINTS} endpoints can exist at once. Delete one, or subscribe an existing one to more events.`,
  },
  () => ({ detail: `There are ${MOST_ENDPOINTS} webhook endpoints already.` }),
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
