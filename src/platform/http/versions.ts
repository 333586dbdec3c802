import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { VersionCondition } from '../database';
import { malformedRequest } from '../errors';

/** Key of the entity tag on the DTO of a response. JSON leaves it out, because it is a symbol. */
const ETAG = Symbol('ETag');

/** Key that marks a DTO whose fields can change while the version of the resource stays the same. */
const CHANGES_WITHIN_VERSION = Symbol('changes within a version');

interface Tagged {
  [ETAG]?: string;
  [CHANGES_WITHIN_VERSION]?: true;
}

/**
 * Converts a resource to its DTO. If the DTO is the body of a response, the `ETag` of the response is the version of
 * the resource, for use in `If-Match`.
 */
export function withETag<Resource extends { readonly version: number }, Dto extends object>(
  resource: Resource,
  toDto: (resource: Resource) => Dto,
): Dto {
  const dto: Dto & Tagged = toDto(resource);
  dto[ETAG] = `"${resource.version}"`;
  return dto;
}

/**
 * Like {@link withETag}, for a DTO with fields that can change while the version stays the same, such as the time of
 * the last use. Its `ETag` works with `If-Match`, but not with `If-None-Match`, because bodies of equal versions can
 * differ.
 */
export function withETagForChanges<
  Resource extends { readonly version: number },
  Dto extends object,
>(resource: Resource, toDto: (resource: Resource) => Dto): Dto {
  const dto: Dto & Tagged = withETag(resource, toDto);
  dto[CHANGES_WITHIN_VERSION] = true;
  return dto;
}

export function changesWithinVersion(body: unknown): boolean {
  return typeof body === 'object' && body !== null && CHANGES_WITHIN_VERSION in body;
}

/** Returns the entity tag of a body that {@link withETag} made; undefined for other bodies. */
export function etagOf(body: unknown): string | undefined {
  return typeof body === 'object' && body !== null ? (body as Tagged)[ETAG] : undefined;
}

/** Removes the suffix that compressing proxies (Caddy, Apache) append to entity tags: `"3-gzip"` becomes `"3"`. */
const withoutEncoding = (tags: string): string => tags.replace(/("\d{1,10})[-;][a-z]+"/g, '$1"');

/**
 * Middleware that lets `If-None-Match` lead to a 304. Restores entity tags that a proxy has changed. Removes
 * `Cache-Control`, because `fetch` sends `Cache-Control: no-cache`, with which Express never answers 304. The header is
 * meant for caches (RFC 9111, 5.2.1).
 */
export function prepareIfNoneMatch({ headers }: Request, _: Response, next: NextFunction): void {
  const tags = headers['if-none-match'];
  if (tags !== undefined) {
    headers['if-none-match'] = withoutEncoding(tags);
    delete headers['cache-control'];
  }
  next();
}

/**
 * Parses `If-Match` (RFC 9110, 13.1.1). Unlike the RFC, accepts tags that a compressing proxy has changed: weak tags
 * (`W/"3"`), and tags with a suffix (`"3-gzip"`). A version does not depend on the encoding. A tag that is not a
 * version matches no version.
 */
function parseIfMatch(header: string | undefined): VersionCondition {
  if (header === undefined || header.trim() === '*') return 'any';
  const tags = header.split(',').map((text) => text.trim());
  if (!tags.every((text) => /^(W\/)?"[\x21\x23-\x7e]*"$/.test(text))) {
    throw malformedRequest('If-Match must be * or a list of entity tags.');
  }
  return tags.flatMap((text) => {
    const [, version] = /^(?:W\/)?"(\d{1,10})"$/.exec(withoutEncoding(text)) ?? [];
    return version === undefined ? [] : [Number(version)];
  });
}

export const versionCondition = (_: unknown, context: ExecutionContext): VersionCondition =>
  parseIfMatch(context.switchToHttp().getRequest<Request>().headers['if-match']);

/** Injects the versions that the `If-Match` of a change lists; `any` without the header or for `*`. */
export const IfMatch = createParamDecorator(versionCondition);
