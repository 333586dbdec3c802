import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';

const OPERATION = Symbol('operation');

export function setOperation(request: IncomingMessage, operation: string): void {
  Object.assign(request, { [OPERATION]: operation });
}

/** Returns the `operationId` that a guard has set, otherwise method and route, such as `GET /metrics`. */
export function operationOf(request: Request): string {
  const { [OPERATION]: operation } = request as { readonly [OPERATION]?: string };
  if (operation !== undefined) return operation;
  const route = request.route as { readonly path?: unknown } | undefined;
  return `${request.method} ${typeof route?.path === 'string' ? route.path : 'unknown'}`.slice(
    0,
    80,
  );
}
