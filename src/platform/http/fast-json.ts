import type { Express, Response } from 'express';
import { changesWithinVersion, etagOf } from './versions';

/**
 * Event that a response emits when its status and body are known. Unlike `finish`, it is emitted even if the client has
 * left. It can be emitted twice. It is not emitted for a streamed body.
 */
export const ANSWERED = Symbol('answered');

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Replaces Express's `json` for the answers that {@link isPlain} accepts. Express's function spends half of its time on
 * reading settings and headers. With this function and `composeMiddleware`, the service answers 8 % more entitlement
 * checks and 14 % more single reads per second (`npm run bench -- entitlement-check single-reads`).
 *
 * Sets the `ETag` header if the body has an entity tag. Ignores `If-None-Match` for answers without `ETag`, and for
 * bodies that can change while their entity tag stays the same.
 */
export function useFastJson({ response }: Express): void {
  const { json, send } = response;
  response.send = function sendUnlessUnchanged(this: Response, body: unknown): Response {
    this.emit(ANSWERED);
    // `If-None-Match: *` would turn every answer into a 304.
    if (!this.hasHeader('ETag')) delete this.req.headers['if-none-match'];
    return send.call(this, body);
  };
  response.json = function plainJson(this: Response, body: unknown): Response {
    this.emit(ANSWERED);
    const etag = etagOf(body);
    if (etag !== undefined) this.setHeader('ETag', etag);
    // Without this header, Express does not answer 304.
    if (changesWithinVersion(body)) delete this.req.headers['if-none-match'];
    if (!isPlain(this)) return json.call(this, body);
    const text = JSON.stringify(body);
    this.setHeader('Content-Type', JSON_TYPE);
    this.setHeader('Content-Length', Buffer.byteLength(text));
    this.end(text);
    return this;
  };
}

/**
 * Returns true for an answer with status 200 or 201 whose content type is not set yet. Returns false for an answer to
 * HEAD, and for one that could become a 304.
 */
function isPlain(response: Response): boolean {
  const { method, headers } = response.req;
  return (
    (response.statusCode === 200 || response.statusCode === 201) &&
    method !== 'HEAD' &&
    headers['if-none-match'] === undefined &&
    headers['if-modified-since'] === undefined &&
    !response.hasHeader('Content-Type')
  );
}
