import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { malformedRequest, payloadTooLarge, unsupportedMediaType } from '../errors';
import { type Patience, unlessStalled } from './unless-stalled';

const LONGEST_LINE_BYTES = 1_048_576;
const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

export interface LineLimits extends Patience {
  readonly mostLines: number;
}

/** A line of a body, from 0; the text is null where it is not UTF-8. */
export interface Line {
  readonly index: number;
  readonly text: string | null;
}

/**
 * The lines of a body that are not blank, as many at a time as came together, without the mark with which some programs
 * begin a file. The next are read once these are taken, so that no more than a piece of the body and one unfinished line
 * is in memory.
 * @throws {ProblemError} `payload_too_large` for more lines than given, or for a line of more than 1 MiB;
 * `malformed_request` when the body breaks off or cannot be unpacked; `unsupported_media_type` for an unknown encoding;
 * `request_timeout` when the client sends nothing for too long, or too little; `service_unavailable` when the process stops
 * before the body is there
 */
export async function* linesOf(
  request: IncomingMessage,
  { mostLines, ...patience }: LineLimits,
): AsyncGenerator<readonly Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let count = 0;
  const read = (whole: Buffer): readonly Line[] => {
    const lines = splitLines(count === 0 ? withoutMark(whole) : whole, count);
    count = lines.next;
    if (count > mostLines) throw payloadTooLarge(`The body holds more than ${mostLines} lines.`);
    return lines.filled;
  };
  for await (const chunk of piecesOf(request, patience)) {
    const end = chunk.lastIndexOf(LINE_FEED);
    if (end === -1) {
      rest = Buffer.concat([rest, chunk]);
      if (rest.length > LONGEST_LINE_BYTES) throw lineTooLong();
      continue;
    }
    const whole = Buffer.concat([rest, chunk.subarray(0, end)]);
    rest = chunk.subarray(end + 1);
    yield read(whole);
  }
  if (rest.length > 0) yield read(rest);
}

function withoutMark(start: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return start.subarray(0, length).equals(BYTE_ORDER_MARK) ? start.subarray(length) : start;
}

function lineTooLong(): Error {
  return payloadTooLarge('A line of the body holds more than 1 MiB.');
}

/** @param whole one or more lines, without the line feed of the last */
function splitLines(
  whole: Buffer,
  first: number,
): { readonly filled: readonly Line[]; readonly next: number } {
  const isReadable = isUtf8(whole);
  // Byte for byte, where they have to be told apart first.
  const texts = whole.toString(isReadable ? 'utf8' : 'latin1').split('\n');
  const filled: Line[] = [];
  for (const [offset, text] of texts.entries()) {
    if (text.length > LONGEST_LINE_BYTES) throw lineTooLong();
    if (text === '' || text === '\r') continue;
    filled.push({ index: first + offset, text: isReadable ? text : fromBytes(text) });
  }
  return { filled, next: first + texts.length };
}

function fromBytes(latin1: string): string | null {
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

/** The body as it was before it was packed. */
async function* piecesOf(request: IncomingMessage, patience: Patience): AsyncGenerator<Buffer> {
  // Destroying the request would destroy the way of the answer.
  const pieces = unpacked(request).iterator({ destroyOnReturn: false });
  try {
    yield* unlessStalled(request, pieces as AsyncIterator<Buffer>, patience);
  } catch (error) {
    // The client is gone, or what it sent is not what it said: either way there is no whole body.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (isBodyFault(code)) throw malformedRequest('The body broke off, or could not be unpacked.');
    throw error;
  } finally {
    // What is left of it must not stand between this answer and the next request.
    request.unpipe();
    request.resume();
  }
}

/** Codes of Node's streams, of zlib, and of Brotli. */
function isBodyFault(code: string): boolean {
  return /^(ECONNRESET$|ERR_STREAM_PREMATURE_CLOSE$|Z_|ERR__ERROR_)/.test(code);
}

const UNPACKERS: ReadonlyMap<string, () => Duplex> = new Map<string, () => Duplex>([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

function unpacked(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return request;
  const unpack = UNPACKERS.get(encoding);
  if (unpack === undefined) throw unsupportedMediaType('The encoding of the body is not read.');
  // Whoever reads the end of the pipeline is told of its errors.
  return pipeline(request, unpack(), () => undefined);
}
