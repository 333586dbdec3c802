import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { currentAnswer } from './current-answer';
import { encodingOf } from './encodings';
import { inTurn } from './in-turn';
import { TINY_CHUNKS } from './refuse-unreadable';

/**
 * Bodies of chunks that are smaller on average are refused. Node keeps each chunk that waits to be read with 200 to 350
 * bytes besides its content, and stops reading a connection only by the bytes of the content.
 */
const MIN_CHUNK_BYTES = 64;
/** The same for a compressed body: a flush after each line makes chunks of 8 bytes or more on average. */
const MIN_PACKED_CHUNK_BYTES = 8;
/** Number of empty chunks after which a body is refused. */
const MAX_TINY_CHUNKS = 1_024;
/** Time for which the rest of a refused body is discarded, so that its client can read the answer. */
const LINGER_MS = 1_000;

/**
 * Express adapter that creates requests and responses with Express's prototypes. Otherwise Express would change the
 * prototype of each object after its creation, and V8 has no fast access to the fields of such an object. A small
 * request would take two to three times as long.
 */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express: Express = this.getInstance();
    class ExpressRequest extends IncomingMessage {
      private missingBytes = 0;

      override push(chunk: Buffer | null): boolean {
        // The rest of a refused body is discarded. Without its end, it never counts as complete.
        if (this.missingBytes === Infinity) return true;
        if (chunk === null) return super.push(chunk);
        const least = encodingOf(this) === null ? MIN_CHUNK_BYTES : MIN_PACKED_CHUNK_BYTES;
        this.missingBytes = Math.max(0, this.missingBytes + least - chunk.length);
        const isTiny = this.missingBytes > MAX_TINY_CHUNKS * least;
        // The body of a destroyed or answered request is discarded anyway.
        if (!isTiny || this.destroyed || currentAnswer(this.socket) === null) {
          return super.push(chunk);
        }
        this.missingBytes = Infinity;
        refuseChunks(server, this);
        return true;
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

/** Answers as if the request could not be parsed (see `refuseUnreadable`), and closes the connection. */
function refuseChunks(server: Server, request: IncomingMessage): void {
  const { socket } = request;
  // Otherwise `refuseUnreadable` closes the connection after the answer to the request before this one.
  if (currentAnswer(socket)?.req === request) {
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
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
