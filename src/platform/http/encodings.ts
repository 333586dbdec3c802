import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip, createInflate, type Gunzip, type Inflate } from 'node:zlib';
import type { RequestHandler } from 'express';
import { malformedRequest, type ProblemError, unsupportedEncoding } from '../errors';

/**
 * Supported content encodings of bodies, in addition to `identity`. Others, such as brotli, are refused, because they
 * can decompress a few bytes to far more data than gzip can.
 */
const UNPACKERS: ReadonlyMap<string, () => Gunzip | Inflate> = new Map<
  string,
  () => Gunzip | Inflate
>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
]);

/** Returns the content encoding of the body; null if it has none. */
export function encodingOf({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  return encoding === 'identity' ? null : encoding;
}

/** Refuses bodies in unsupported encodings with 415 and `Accept-Encoding`. */
export const requireReadEncoding: RequestHandler = (request, _response, next) => {
  const encoding = encodingOf(request);
  next(encoding === null || UNPACKERS.has(encoding) ? undefined : unsupportedEncoding(encoding));
};

/**
 * Returns the decompressed body. The stream ends with an error if the body breaks off or cannot be decompressed.
 * @throws {ProblemError} `unsupported_media_type`
 */
export function unpacked(request: IncomingMessage): Readable | Gunzip | Inflate {
  const encoding = encodingOf(request);
  if (encoding === null) return request;
  const unpack = UNPACKERS.get(encoding);
  if (unpack === undefined) throw unsupportedEncoding(encoding);
  const body = unpack();
  request.once('error', (error) => body.destroy(error));
  // Discards the rest of a body that cannot be decompressed, to keep the connection usable. `stream.pipeline` would
  // destroy the request instead, and set its socket to null.
  body.once('error', () => request.resume());
  return request.pipe(body);
}

export function bodyBrokeOff(): ProblemError {
  return malformedRequest('The body ended early, or could not be decompressed. Send it again.');
}
