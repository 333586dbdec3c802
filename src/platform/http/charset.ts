import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { NextFunction, Request, Response } from 'express';

const ASCII_JSON = /^application\/json *; *charset="?us-ascii"?$/i;

/** US-ASCII is UTF-8 already, but the parser of bodies takes no charset whose name does not begin with `utf-`. */
export function readAsciiAsUtf8(request: Request, _response: Response, next: NextFunction): void {
  if (ASCII_JSON.test(request.headers['content-type'] ?? '')) {
    request.headers['content-type'] = 'application/json';
  }
  next();
}

/**
 * For `verify` of the parser of bodies, which would decode UTF-7, UTF-16 and UTF-32 as well: JSON between systems is UTF-8
 * (RFC 8259, 8.1). Asked with the charset that the parser is about to use, so the two cannot differ.
 */
export function requireUtf8(
  _request: IncomingMessage,
  _response: unknown,
  body: Buffer,
  charset: string,
): void {
  if (charset.toLowerCase() !== 'utf-8') {
    throw Object.assign(new Error('The charset of the body is not read.'), { status: 415 });
  }
  assertUtf8(body);
}

/** What {@link assertUtf8} throws is told by. */
export const NOT_UTF8 = 'entity.not.utf8';

/** A decoder would put the same letter in the place of all that it cannot read, and make one key of two. */
export function assertUtf8(body: Buffer): void {
  if (!isUtf8(body)) {
    throw Object.assign(new Error('The body is not UTF-8.'), { status: 400, type: NOT_UTF8 });
  }
}
