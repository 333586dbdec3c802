import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';

const OPERATION = Symbol('operation');

/** Sets the `operationId` of a request, once its handler is known. */
export function setOperation(request: IncomingMessage, operation: string): void {
  Object.assign(request, { [OPERATION]: operation });
}

/**
 * Returns the `operationId` of a request; for a handler without an access guard, its method and route (at most 80
 * characters).
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
