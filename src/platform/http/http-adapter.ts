import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Request } from 'express';
import { currentAnswer } from './current-answer';
import { encodingOf } from './encodings';
import { inTurn } from './in-turn';
import { TINY_CHUNKS } from './refuse-unreadable';

/**
 * Bodies of chunks that are smaller on average are refused. Node keeps each chunk that waits to be read with 200 to 350
 * bytes besides its content, and stops reading a connection only by the bytes of the content.
 */
const MIN_CHUNK_BYTES = 64;
/** The same for compressed lines: a flush after each line makes chunks of 8 bytes or more on average. */
const MIN_FLUSHED_CHUNK_BYTES = 8;
/** Number of empty chunks after which a body is refused. */
const MAX_TINY_CHUNKS = 1_024;
/** Time for which the rest of a body is discarded after the last answer, so that the client can read the answer. */
const LINGER_MS = 1_000;

/**
 * Express adapter that creates requests and responses with Express's prototypes. Otherwise Express would change the
 * prototype of each object after its creation, and V8 has no fast access to the fields of such an object. A small
 * request would take two to three times as long.
 */
export class HttpAdapter extends ExpressAdapter {
  /** @param flushesLines returns true for requests whose compressed body may be flushed after each line */
  constructor(private readonly flushesLines: (request: Request) => boolean) {
    super();
  }

  override initHttpServer(): void {
    const express: Express = this.getInstance();
    const { flushesLines } = this;
    class ExpressRequest extends IncomingMessage {
      private missingBytes = 0;
      private leastBytes: number | null = null;

      override push(chunk: Buffer | null): boolean {
        if (this.destroyed) return super.push(chunk);
        const isAnswered = currentAnswer(this.socket) === null;
        const isDiscarded = this.missingBytes === Infinity;
        // Without its end, a refused body never counts as complete.
        if (chunk === null) return (isDiscarded && !isAnswered) || super.push(null);
        if (isDiscarded) return true;
        this.leastBytes ??= minChunkBytes(this, flushesLines);
        const least = isAnswered ? MIN_CHUNK_BYTES : this.leastBytes;
        this.missingBytes = Math.max(0, this.missingBytes + least - chunk.length);
        if (this.missingBytes <= MAX_TINY_CHUNKS * least) return isAnswered || super.push(chunk);
        this.missingBytes = Infinity;
        if (isAnswered) closeSoon(this.socket.end());
        else refuseChunks(server, this);
        return true;
      }

      /** Node calls this after the answer if nothing reads the body. Its own method would not count the chunks. */
      _dump(): void {
        this.resume();
      }
    }
    class ExpressResponse extends ServerResponse<ExpressRequest> {}
    express.request = extending(ExpressRequest.prototype, express.request);
    express.response = extending(ExpressResponse.prototype, express.response);
    const server = createServer(
      {
        IncomingMessage: ExpressRequest,
        ServerResponse: ExpressResponse,
        // `catchUnroutable` checks the header, because the answer of Node would have no body.
        requireHostHeader: false,
      },
      inTurn(express),
    );
    this.setHttpServer(server);
  }
}

function minChunkBytes(
  request: IncomingMessage,
  flushesLines: (request: Request) => boolean,
): number {
  // The prototype of the request is that of Express.
  return encodingOf(request) !== null && flushesLines(request as Request)
    ? MIN_FLUSHED_CHUNK_BYTES
    : MIN_CHUNK_BYTES;
}

/** Discards what still arrives on an ended connection, and closes it. */
function closeSoon(socket: Socket): void {
  socket.resume();
  // Node stops parsing a connection when it gets such a listener. Node must have resumed it before, in an earlier tick.
  process.nextTick(() => {
    socket.removeAllListeners('data').on('data', () => undefined);
  });
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Answers as if the request could not be parsed (see `refuseUnreadable`), and closes the connection. */
function refuseChunks(server: Server, request: IncomingMessage): void {
  const { socket } = request;
  // Otherwise `refuseUnreadable` closes the connection after the answer to the request before this one.
  if (currentAnswer(socket)?.req === request) closeSoon(socket);
  const error = Object.assign(new Error('The chunks of a body are too small.'), {
    code: TINY_CHUNKS,
  });
  server.emit('clientError', error, socket);
}

/**
 * Makes the prototype `own` inherit from `base`, and returns `own`. `own` still inherits from the same class of Node,
 * because `base` does too.
 */
function extending<Prototype extends object>(own: object, base: Prototype): Prototype {
  return Object.setPrototypeOf(own, base) as Prototype;
}
