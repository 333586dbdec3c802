import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { RequestHandler } from 'express';

/**
 * Returns a handler that sends a text. The text is gzipped for clients that accept gzip.
 * @param type media type
 * @param make returns the text; called on the first request
 */
export function compressedText(type: string, make: () => string): RequestHandler {
  let bodies: Promise<{ readonly plain: Buffer; readonly gzipped: Buffer }> | undefined;
  const load = async () => {
    const plain = Buffer.from(make());
    return { plain, gzipped: await promisify(gzip)(plain, { level: 9 }) };
  };
  return (request, response, next) => {
    bodies ??= load();
    bodies
      .then(({ plain, gzipped }) => {
        const isGzipped = request.acceptsEncodings('gzip', 'identity') === 'gzip';
        if (isGzipped) response.setHeader('Content-Encoding', 'gzip');
        response
          .vary('Accept-Encoding')
          .type(type)
          .send(isGzipped ? gzipped : plain);
      })
      .catch(next);
  };
}
