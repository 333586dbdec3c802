import type { OpenAPIObject } from '@nestjs/swagger';
import { allEvents, type EventDefinition } from '../platform/outbox';

/** Headers of webhooks, as the specification Standard Webhooks defines them. */
const HEADERS = [
  ['webhook-id', 'Id of the event; the same for every attempt at its delivery.'],
  ['webhook-timestamp', 'Time of the attempt, in seconds since 1970.'],
  ['webhook-signature', 'Signatures over the id, the timestamp and the body, separated by spaces.'],
] as const;

export function addWebhooks(document: OpenAPIObject): void {
  const webhooks = allEvents().map((event) => [event.type, webhookOf(event)] as const);
  Object.assign(document, { webhooks: Object.fromEntries(webhooks) });
  const parameters = ((document.components ??= {}).parameters ??= {});
  for (const [name, description] of HEADERS) {
    parameters[name] = {
      name,
      in: 'header',
      required: true,
      description,
      schema: { type: 'string' },
    };
  }
}

function webhookOf({ type, meaning, dto }: EventDefinition): object {
  const schema = {
    allOf: [
      { $ref: '#/components/schemas/EventDto' },
      {
        type: 'object',
        properties: {
          type: { const: type },
          data: {
            type: 'object',
            properties: { object: { $ref: `#/components/schemas/${dto.name}` } },
          },
        },
      },
    ],
  };
  return {
    post: {
      operationId: `on-${type}`,
      security: [],
      summary: type,
      description: meaning,
      tags: ['Webhooks'],
      parameters: HEADERS.map(([name]) => ({ $ref: `#/components/parameters/${name}` })),
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: {
        '2XX': { description: 'Received. Any other status but 410 is tried again.' },
        '410': {
          description:
            'No longer wanted: disables the endpoint and discards its pending deliveries.',
        },
        '4XX': { description: 'Not received; tried again.' },
      },
    },
  };
}
