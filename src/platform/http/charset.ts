import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { assertBoundedJson } from './json-bounds';

const ASCII_JSON = /^application\/json *; *charset="?us-ascii"?$/i;

/** Treats US-ASCII as UTF-8, because the body parser accepts only charsets that start with `utf-`. */
export function readAsciiAsUtf8(request: Request, _response: Response, next: NextFunction): void {
  if (ASCII_JSON.test(request.headers['content-type'] ?? '')) {
    request.headers['content-type'] = 'application/json';
  }
  next();
}

/**
 * `verify` callback of the body parser. Refuses every charset but UTF-8, because JSON between systems is UTF-8 (RFC
 * 8259, 8.1), and the parser would also decode UTF-7, UTF-16 and UTF-32. Then calls {@link assertReadableJson}.
 * @param charset charset that the parser is about to use
 */
export function requireReadableJson(
  _request: IncomingMessage,
  _response: unknown,
  body: Buffer,
  charset: string,
): void {
  if (charset.toLowerCase() !== 'utf-8') {
    throw Object.assign(new Error('The charset of the body is not read.'), { status: 415 });
  }
  assertReadableJson(body);
}

/** Error type of JSON that is not UTF-8. */
export const NOT_UTF8 = 'entity.not.utf8';

/**
 * Refuses invalid UTF-8. A decoder would replace all invalid bytes with the same character, and so could turn two
 * different keys into one. Also limits the depth and number of JSON values.
 */
export function assertReadableJson(body: Buffer): void {
  if (!isUtf8(body)) {
    throw Object.assign(new Error('The body is not UTF-8.'), { status: 400, type: NOT_UTF8 });
  }
  assertBoundedJson(body);
}
