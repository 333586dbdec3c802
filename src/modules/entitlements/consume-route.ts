import type { Request } from 'express';

const PATH = /^\/v1\/customers\/[^/]+\/entitlements\/[^/]+\/consume$/;

export function isConsumeRequest(request: Request): boolean {
  return request.method === 'POST' && request.path.endsWith('/consume') && PATH.test(request.path);
}
