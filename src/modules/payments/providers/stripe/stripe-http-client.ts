import type { IncomingMessage } from 'node:http';
import { Logger } from '@nestjs/common';
import Stripe from 'stripe';
import { CALL_DEADLINE_MS } from '../with-deadline';

/**
 * Maximum length of an answer, in characters. The longest answer is a list of 100 events about disputes. The evidence
 * of a dispute has up to 150,000 characters, and an event may contain it twice.
 */
const MAX_BODY_LENGTH = 64_000_000;

const logger = new Logger('stripe');

/**
 * Returns an HTTP client for the Stripe SDK that accepts only the JSON that Stripe sends: an object of the requested
 * kind, a list of such objects, or an error. Other JSON counts as a body that is not JSON: the outcome of the request
 * is unknown. With the standard client (SDK 23.1):
 * - A text or number, e.g. the `"Bad Gateway"` of a proxy, would end the process: the SDK throws an error that cannot
 *   be caught.
 * - The body `{}` would count as an object without fields, and the status 402 of a proxy as a refusal.
 * - A body without end would fill the memory.
 */
export function stripeHttpClient(): Stripe.HttpClient {
  const client = Stripe.createNodeHttpClient();
  return {
    getClientName: () => client.getClientName(),
    makeRequest: async (...request) => {
      const endsAt = performance.now() + CALL_DEADLINE_MS;
      const response = await client.makeRequest(...request);
      const read = response.toJSON.bind(response);
      response.toJSON = async () => {
        const [, , path, method] = request;
        const end = limitBody(response.getRawResponse() as IncomingMessage, path, endsAt);
        const body: unknown = await read().finally(end);
        if (!isAnswer(body, response.getStatusCode(), path, method))
          throw new SyntaxError('The body is neither the requested object nor an error.');
        return body;
      };
      return response;
    },
  };
}

/**
 * Closes the connection, and logs an error, when the body is too long or has not ended in time. Reading the body then
 * fails.
 * @param endsAt on the clock of `performance.now()`
 * @returns a function to call when the body has been read
 */
function limitBody(response: IncomingMessage, path: string, endsAt: number): () => void {
  const close = (reason: string): void => {
    const line = { path: path.replace(/\?.*/, ''), reason };
    logger.error(line, 'an answer of Stripe was not read to its end, and counts as no answer');
    response.destroy(new Error(reason));
  };
  let length = 0;
  response.on('data', (text: string) => {
    length += text.length;
    if (length > MAX_BODY_LENGTH) close('The body is too long.');
  });
  const timer = setTimeout(() => {
    close('The body has not ended in time.');
  }, endsAt - performance.now());
  return () => {
    clearTimeout(timer);
  };
}

/**
 * Returns true if a body is what Stripe answers to the request:
 * - with a status of 400 or above: an error with its type
 * - to a GET request for a list, e.g. `/v1/payment_intents`: a list of objects of this kind
 * - to any other request, e.g. `/v1/payment_intents/pi_1`: one object of this kind, with an id
 */
function isAnswer(body: unknown, status: number, path: string, method: string): boolean {
  if (!isRecord(body)) return false;
  const { error, object, data } = body;
  if (status >= 400) return isRecord(error) && typeof error['type'] === 'string';
  const [, kind, slash] = /^\/v1\/(\w+)s(\/)?/.exec(path) ?? [];
  const isOfKind = (one: unknown): boolean =>
    isRecord(one) && one['object'] === kind && typeof one['id'] === 'string';
  if (method !== 'GET' || slash !== undefined) return isOfKind(body);
  return object === 'list' && Array.isArray(data) && data.every(isOfKind);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
