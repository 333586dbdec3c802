import type { RequestHandler } from 'express';
import { unsupportedEncoding } from '../errors';

/**
 * Supported content encodings of bodies. In other encodings, such as brotli, the same number of compressed bytes can
 * decompress to far more data.
 */
const READ_ENCODINGS: ReadonlySet<string> = new Set(['identity', 'gzip', 'deflate']);

/** Refuses bodies in unsupported encodings (415 with `Accept-Encoding`). */
export const requireReadEncoding: RequestHandler = (request, _response, next) => {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  next(READ_ENCODINGS.has(encoding) ? undefined : unsupportedEncoding(encoding));
};
