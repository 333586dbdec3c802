import type { Request } from 'express';

export const PROVIDER_WEBHOOKS_PATH = 'v1/providers/stripe/webhooks';

/**
 * Returns true for notifications of a provider. The body must not be parsed, because the signature covers its bytes.
 */
export function isProviderWebhook(request: Request): boolean {
  return request.method === 'POST' && request.path === `/${PROVIDER_WEBHOOKS_PATH}`;
}
