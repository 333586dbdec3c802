import type { Request } from 'express';

export const PROVIDER_WEBHOOKS_PATH = 'v1/providers/stripe/webhooks';

/** Returns true for notifications of a provider. Their signature is over the bytes of the body, which are not parsed. */
export function isProviderWebhook(request: Request): boolean {
  return request.method === 'POST' && request.path === `/${PROVIDER_WEBHOOKS_PATH}`;
}
