import { randomUUID } from 'node:crypto';
import { maxHeaderSize, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  malformedRequest,
  payloadTooLarge,
  type ProblemError,
  requestHeadTooLarge,
  requestTimeout,
} from '../errors';
import { currentAnswer } from './current-answer';
import { problemResponse } from './problem-response';
import { DATA_HEADERS } from './security-headers';

/** Code of the error for a body of very many tiny chunks. */
export const TINY_CHUNKS = 'TINY_CHUNKS';

/**
 * Answers a request that Node cannot parse with an RFC 9457 problem. Such a request reaches no middleware, and Node's
 * own answer has no body. Then closes the connection, because the start of its next request is unknown. If an earlier
 * request on the connection is still being handled, sends only the answer to that request. Otherwise its client would
 * take the problem for that answer, although the work was done.
 */
export function refuseUnreadable(server: Server): void {
  const closing = new WeakSet<ServerResponse>();
  server.on('clientError', (error: NodeJS.ErrnoException, connection: Duplex) => {
    const response = currentAnswer(connection);
    const isHandled = response?.req.complete === true;
    if (
      !connection.writable ||
      error.code === 'ECONNRESET' ||
      (response?.headersSent === true && !isHandled)
    ) {
      connection.destroy(error);
    } else if (response === null || !isHandled) {
      connection.end(responseTo(problemOf(error, server), response));
    } else if (!closing.has(response)) {
      closing.add(response);
      if (!response.headersSent) response.setHeader('Connection', 'close');
      response.once('close', () => connection.end(() => connection.destroy()));
    }
  });
}

function problemOf({ code }: NodeJS.ErrnoException, server: Server): ProblemError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return requestHeadTooLarge(maxHeaderSize);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return payloadTooLarge('The extensions of the chunks of the body are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return requestTimeout(server.headersTimeout);
    case TINY_CHUNKS:
      return malformedRequest(
        'The body arrives in more than 1,000 tiny chunks. Send larger chunks.',
      );
    default:
      return malformedRequest('The request is not HTTP/1.1.');
  }
}

/**
 * Returns the text of the whole response, with its headers.
 * @param open response that the text replaces; gets the same status, for the request log
 */
function responseTo(problem: ProblemError, open: ServerResponse | null): string {
  const requestId = String(open?.getHeader('X-Request-Id') ?? randomUUID());
  const { status, headers, body } = problemResponse(problem, requestId);
  if (open !== null) open.statusCode = status;
  const text = JSON.stringify(body);
  const lines = Object.entries({
    ...Object.fromEntries(DATA_HEADERS),
    ...headers,
    'X-Request-Id': requestId,
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', text].join('\r\n');
}
