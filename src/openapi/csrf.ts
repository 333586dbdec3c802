import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations';

export const CSRF_SCHEME = 'csrf';

/** Requires the CSRF token, in addition to the session cookie, for every operation except GET. */
export function requireCsrfToken({ paths }: OpenAPIObject): void {
  for (const { method, operation } of operationsOf(paths)) {
    if (method === 'get') continue;
    for (const schemes of operation.security ?? []) {
      if ('session' in schemes) schemes[CSRF_SCHEME] = [];
    }
  }
}
