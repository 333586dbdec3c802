import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { payloadTooLarge } from '../errors';
import { BodyBytes } from './body-bytes';
import { bodyBrokeOff, unpacked } from './encodings';
import { type StallLimits, readUnlessStalled } from './read-unless-stalled';

const MAX_LINE_BYTES = 1_048_576;
/** Maximum number of bytes of a body after decompression. */
const MAX_BYTES = 256 * 2 ** 20;
/**
 * Maximum ratio of decompressed to compressed bytes. Usage events usually compress to about a tenth of their size. The
 * first `FREE_BYTES` decompressed bytes do not count.
 */
const MAX_UNPACKED_PER_BYTE = 100;
const FREE_BYTES = 2 ** 20;
const LINE_FEED = 0x0a;
/** A line that has only JSON white space. */
const BLANK = /^[ \t\r]*$/;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

export interface LineLimits extends StallLimits {
  readonly maxLines: number;
}

/** A line of a body. Indexes start at 0 and also count blank lines. The text is null if it is not UTF-8. */
export interface NdjsonLine {
  readonly index: number;
  readonly text: string | null;
}

/**
 * Yields the non-blank lines of a body as they arrive, without a byte order mark. Reads the next chunk only after the
 * caller has taken the yielded lines. Memory thus holds one chunk of the body and one unfinished line. A yielded list
 * can be empty.
 * @throws {ProblemError} `payload_too_large` for too many lines, a line above 1 MiB, a body above 256 MiB or a
 *   compression ratio above 100
 * @throws {ProblemError} `malformed_request` if the body ends early or cannot be decompressed
 * @throws {ProblemError} `unsupported_media_type` for an unknown encoding
 * @throws {ProblemError} `request_timeout` if the client sends too little for too long
 * @throws {ProblemError} `service_unavailable` if the process stops before the body is complete
 */
export async function* linesOf(
  request: IncomingMessage,
  { maxLines, ...stallLimits }: LineLimits,
): AsyncGenerator<readonly NdjsonLine[]> {
  let rest = new BodyBytes();
  let count = 0;
  const read = (whole: Buffer): readonly NdjsonLine[] => {
    const lines = splitLines(count === 0 ? withoutMark(whole) : whole, count);
    count = lines.next;
    if (count > maxLines) throw payloadTooLarge(`The body holds more than ${maxLines} lines.`);
    return lines.filled;
  };
  for await (const chunk of piecesOf(request, stallLimits)) {
    const end = chunk.lastIndexOf(LINE_FEED);
    if (end === -1) {
      rest.add(chunk);
      if (rest.length > MAX_LINE_BYTES) throw lineTooLong();
      yield [];
      continue;
    }
    rest.add(chunk.subarray(0, end));
    const whole = rest.join();
    rest = new BodyBytes();
    rest.add(chunk.subarray(end + 1));
    yield read(whole);
  }
  if (rest.length > 0) yield read(rest.join());
}

function withoutMark(start: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return start.subarray(0, length).equals(BYTE_ORDER_MARK) ? start.subarray(length) : start;
}

function lineTooLong(): Error {
  return payloadTooLarge('A line of the body holds more than 1 MiB.');
}

/**
 * Returns the non-blank lines, and the index that the next line of the body will have.
 * @param whole complete lines, without the last line feed
 * @param first index of the first of these lines
 */
function splitLines(
  whole: Buffer,
  first: number,
): { readonly filled: readonly NdjsonLine[]; readonly next: number } {
  const isReadable = isUtf8(whole);
  // Text that is not valid UTF-8 as a whole is split by bytes first, and then decoded line by line.
  const texts = whole.toString(isReadable ? 'utf8' : 'latin1').split('\n');
  const filled: NdjsonLine[] = [];
  for (const [offset, text] of texts.entries()) {
    if (text.length > MAX_LINE_BYTES) throw lineTooLong();
    if (BLANK.test(text)) continue;
    filled.push({ index: first + offset, text: isReadable ? text : fromBytes(text) });
  }
  return { filled, next: first + texts.length };
}

function fromBytes(latin1: string): string | null {
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

async function* piecesOf(
  request: IncomingMessage,
  stallLimits: StallLimits,
): AsyncGenerator<Buffer> {
  // Leaves the stream open after the iteration, because destroying the request would close the connection on which
  // the answer is sent.
  const body = unpacked(request);
  const pieces = body.iterator({ destroyOnReturn: false });
  let bytes = 0;
  try {
    for await (const piece of readUnlessStalled(
      request,
      pieces as AsyncIterator<Buffer>,
      stallLimits,
    )) {
      bytes += piece.length;
      assertNotTooLarge(bytes, 'bytesWritten' in body ? body.bytesWritten : null);
      yield piece;
    }
  } catch (error) {
    // The client disconnected, or the content does not match its encoding.
    const { code = '' } = error as NodeJS.ErrnoException;
    throw isBodyFault(code) ? bodyBrokeOff() : error;
  } finally {
    // Discards the rest, which would block the next request on the connection.
    request.unpipe();
    request.resume();
  }
}

/** @param packedBytes number of compressed bytes read so far; null if the body is not compressed */
function assertNotTooLarge(bytes: number, packedBytes: number | null): void {
  if (bytes > MAX_BYTES) throw payloadTooLarge('The body holds more than 256 MiB.');
  if (packedBytes !== null && bytes > FREE_BYTES + packedBytes * MAX_UNPACKED_PER_BYTE) {
    throw payloadTooLarge('The body is compressed to less than a hundredth of its size.');
  }
}

/**
 * Returns true for error codes of Node's streams or zlib that mean that the body broke off, or is compressed wrongly.
 */
function isBodyFault(code: string): boolean {
  return /^(ECONNRESET$|ERR_STREAM_PREMATURE_CLOSE$|Z_)/.test(code);
}
