import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { inTurn } from './in-turn';
import { TINY_CHUNKS } from './refuse-unreadable';

/**
 * Bodies of chunks that are smaller on average are refused. Node keeps each chunk that waits to be read with 200 to 350
 * bytes besides its content, and stops reading a connection only by the bytes of the content.
 */
const MIN_CHUNK_BYTES = 64;
/** Bytes by which the chunks of a body may fall short of {@link MIN_CHUNK_BYTES} in all: 1,040 chunks of one byte. */
const MAX_MISSING_BYTES = 65_536;

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
        const missing = this.missingBytes + MIN_CHUNK_BYTES - chunk.length;
        this.missingBytes = Math.max(0, missing);
        if (missing <= MAX_MISSING_BYTES) return super.push(chunk);
        this.missingBytes = Infinity;
        refuseChunks(server, this.socket);
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
function refuseChunks(server: Server, connection: Socket): void {
  connection.once('finish', () => connection.destroy());
  const error = Object.assign(new Error('The chunks of a body are too small.'), {
    code: TINY_CHUNKS,
  });
  server.emit('clientError', error, connection);
}

/**
 * Makes the prototype `own` inherit from `base`, and returns `own`. `own` still inherits from the same class of Node,
 * because `base` does too.
 */
function extending<Prototype extends object>(own: object, base: Prototype): Prototype {
  return Object.setPrototypeOf(own, base) as Prototype;
}
