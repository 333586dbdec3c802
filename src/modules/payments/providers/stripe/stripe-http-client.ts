import Stripe from 'stripe';

/**
 * Returns an HTTP client for the SDK that rejects a body that is neither an object of Stripe nor an error, such as the text
 * `"Bad Gateway"` of a proxy. The SDK then fails as for a body that is not JSON. Without this, a text or a number ends the
 * process, because the SDK (23.1) throws where nothing can catch it, and `{}` counts as an object without fields.
 */
export function stripeHttpClient(): Stripe.HttpClient {
  const client = Stripe.createNodeHttpClient();
  return {
    getClientName: () => client.getClientName(),
    makeRequest: async (...request) => {
      const response = await client.makeRequest(...request);
      const read = response.toJSON.bind(response);
      response.toJSON = async () => {
        const body: unknown = await read();
        if (!isAnswer(body))
          throw new SyntaxError('The body is neither an object of Stripe nor an error.');
        return body;
      };
      return response;
    },
  };
}

/** All objects of Stripe, lists included, have `object`, the name of their type. */
function isAnswer(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  if ('error' in body) return typeof body.error === 'object' && body.error !== null;
  return 'object' in body && typeof body.object === 'string';
}
