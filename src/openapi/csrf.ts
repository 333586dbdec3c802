import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations';

export const CSRF_SCHEME = 'csrf';

/** Requires the CSRF token beside the session of every operation that changes something. */
export function requireCsrfToken({ paths }: OpenAPIObject): void {
  for (const { method, operation } of operationsOf(paths)) {
    if (method === 'get') continue;
    for (const schemes of operation.security ?? []) {
      if ('session' in schemes) schemes[CSRF_SCHEME] = [];
    }
  }
}
