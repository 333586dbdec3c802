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
  _body: Buffer,
  charset: string,
): void {
  if (charset.toLowerCase() !== 'utf-8') {
    throw Object.assign(new Error('The charset of the body is not read.'), { status: 415 });
  }
}
