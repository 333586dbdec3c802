import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { VersionCondition } from '../database';
import { malformedRequest } from '../errors';

/** Sets the ETag of a resource on the answer, for use in `If-Match`. */
export function tag(response: Response, resource: { readonly version: number }): void {
  response.setHeader('ETag', `"${resource.version}"`);
}

/** Parses `If-Match` (RFC 9110, 13.1.1). Weak and unknown tags never match. */
function parseIfMatch(header: string | undefined): VersionCondition {
  if (header === undefined || header.trim() === '*') return 'any';
  const tags = header.split(',').map((text) => text.trim());
  if (!tags.every((text) => /^(W\/)?"[\x21\x23-\x7e]*"$/.test(text))) {
    throw malformedRequest('If-Match must be * or a list of entity tags.');
  }
  return tags.filter((text) => /^"\d{1,9}"$/.test(text)).map((text) => Number(text.slice(1, -1)));
}

/** Injects the version condition of a change. */
export const IfMatch = createParamDecorator((_: unknown, context: ExecutionContext) =>
  parseIfMatch(context.switchToHttp().getRequest<Request>().headers['if-match']),
);
