import Stripe from 'stripe';

/**
 * Returns an HTTP client for the Stripe SDK that accepts only two kinds of JSON: an object of Stripe, and an error. It
 * treats other JSON, such as the text `"Bad Gateway"` of a proxy, like a body that is not JSON. With the standard
 * client, a text or a number would end the process, because the SDK (23.1) throws where the error cannot be caught. The
 * body `{}` would count as an object without fields.
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

/**
 * Returns true for an object of Stripe or an error. Every object of Stripe, including lists, names its type in the
 * field `object`.
 */
function isAnswer(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  if ('error' in body) return typeof body.error === 'object' && body.error !== null;
  return 'object' in body && typeof body.object === 'string';
}
