import type { NextFunction, Request, RequestHandler } from 'express';
import { assertUtf8 } from './charset';

const PLAIN_JSON = /^application\/json(?: *; *charset="?utf-8"?)?$/i;
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Reads bodies that are said to be JSON in UTF-8, not packed, and no longer than so many bytes: nearly all there are. What
 * the parser of Express asks about each costs a sixteenth of a report of usage.
 * @param otherwise reads the others, or refuses them
 */
export function readPlainJson(mostBytes: number, otherwise: RequestHandler): RequestHandler {
  return (request, response, next) => {
    if (isPlain(request, mostBytes)) read(request, next);
    else void otherwise(request, response, next);
  };
}

function isPlain({ headers }: Request, mostBytes: number): boolean {
  const length = Number(headers['content-length'] ?? Number.NaN);
  return (
    headers['content-encoding'] === undefined &&
    length > 0 &&
    length <= mostBytes &&
    PLAIN_JSON.test(headers['content-type'] ?? '')
  );
}

/** Node reads as many bytes as were announced, or tells of an error. */
function read(request: Request, next: NextFunction): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.once('error', () => {
    next(Object.assign(new Error('The body broke off.'), { status: 400 }));
  });
  request.once('end', () => {
    try {
      request.body = parse(chunks);
    } catch (error) {
      next(error);
      return;
    }
    next();
  });
}

function parse(chunks: readonly Buffer[]): unknown {
  const [first] = chunks;
  const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
  assertUtf8(bytes);
  const text = bytes.toString();
  const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  // Nothing but the mark is an empty body.
  if (json === '') return {};
  try {
    return JSON.parse(json);
  } catch (error) {
    // As the parser of Express says it.
    throw Object.assign(error as Error, { status: 400, type: 'entity.parse.failed' });
  }
}
