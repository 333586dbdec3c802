import type { Request } from 'express';

export const PROVIDER_WEBHOOKS_PATH = 'v1/providers/stripe/webhooks';

/**
 * Returns true if a request is a notification of a provider. Its body must not be parsed, because the signature covers
 * the bytes of the body.
 */
export function isProviderWebhook(request: Request): boolean {
  return request.method === 'POST' && request.path === `/${PROVIDER_WEBHOOKS_PATH}`;
}
