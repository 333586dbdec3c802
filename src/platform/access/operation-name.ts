import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';

const OPERATION = Symbol('operation');

/** Stores the `operationId` on a request. Guards call it, because the handler is known then. */
export function setOperation(request: IncomingMessage, operation: string): void {
  Object.assign(request, { [OPERATION]: operation });
}

/**
 * Returns the `operationId` of a request. If no guard has set it, returns method and route, such as `GET /metrics` (at
 * most 80 characters).
 */
export function operationOf(request: Request): string {
  const { [OPERATION]: operation } = request as { readonly [OPERATION]?: string };
  if (operation !== undefined) return operation;
  const route = request.route as { readonly path?: unknown } | undefined;
  return `${request.method} ${typeof route?.path === 'string' ? route.path : 'unknown'}`.slice(
    0,
    80,
  );
}
