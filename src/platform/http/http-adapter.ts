import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { currentAnswer } from './current-answer';
import { encodingOf } from './encodings';
import { inTurn } from './in-turn';
import { TINY_CHUNKS } from './refuse-unreadable';

/**
 * Minimum average size of the chunks of a body; a body of smaller chunks is refused. Each chunk that waits to be read
 * takes 200 to 350 bytes of memory besides its content. Node counts only the content when it decides to stop reading.
 */
const MIN_CHUNK_BYTES = 64;
/**
 * Minimum average size of the chunks of a compressed body whose client may flush it after each line. A flush makes
 * chunks of 8 bytes or more on average. While the request waits for its turn, {@link MIN_CHUNK_BYTES} applies.
 */
const MIN_FLUSHED_CHUNK_BYTES = 8;
/**
 * Number of empty chunks after which a body is refused. A chunk of half the minimum size counts as half an empty chunk.
 * A chunk of twice the minimum size offsets one empty chunk.
 */
const MAX_TINY_CHUNKS = 1_024;
/**
 * Time for which the rest of a refused body is discarded before its connection is closed. During this time, the code
 * that reads the body may keep the received part in memory.
 */
const LINGER_MS = 1_000;
/**
 * Time for which the rest of a refused body is discarded if its request was answered before. It is longer, because some
 * clients read the answer only after they have sent everything. A shutdown waits only {@link LINGER_MS} for such a
 * connection.
 */
const ANSWERED_LINGER_MS = 20_000;

/**
 * Express adapter that creates requests and responses with Express's prototypes. Otherwise Express would change the
 * prototype of each object after its creation, and V8 has no fast access to the fields of such an object. A small
 * request would take two to three times as long. The adapter also refuses bodies of very many tiny chunks.
 */
export class HttpAdapter extends ExpressAdapter {
  private readonly connections = new Set<Socket>();
  private isClosing = false;

  /**
   * @param flushesLines returns true for requests whose compressed body may be flushed after each line. An error in
   *   this function would end the process, because nothing catches errors while Node parses a request. Therefore the
   *   function must not read Express's `request.path`, which throws for some targets.
   */
  constructor(private readonly flushesLines: (request: IncomingMessage) => boolean) {
    super();
  }

  override initHttpServer(): void {
    const express: Express = this.getInstance();
    const { flushesLines } = this;
    const lingerAnswered = (socket: Socket) => this.lingerAnswered(socket);
    class ExpressRequest extends IncomingMessage {
      private missingChunks = 0;
      private leastBytes: number | null = null;

      override push(chunk: Buffer | null): boolean {
        if (this.destroyed) return super.push(chunk);
        const answer = currentAnswer(this.socket);
        const isAnswered = answer === null;
        const isDiscarded = this.missingChunks === Infinity;
        // Without its end, a refused body never counts as complete.
        if (chunk === null) return (isDiscarded && !isAnswered) || super.push(null);
        if (isDiscarded) return true;
        this.leastBytes ??= minChunkBytes(this, flushesLines);
        const least = answer?.req === this ? this.leastBytes : MIN_CHUNK_BYTES;
        this.missingChunks = Math.max(0, this.missingChunks + 1 - chunk.length / least);
        if (this.missingChunks <= MAX_TINY_CHUNKS) return isAnswered || super.push(chunk);
        this.missingChunks = Infinity;
        if (isAnswered) lingerAnswered(this.socket.end());
        else refuseChunks(server, this);
        return true;
      }

      /**
       * Node calls this method after the answer if nothing reads the body. Node's own method would not count the
       * chunks.
       */
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
    server.on('connection', (socket) => {
      this.connections.add(socket);
      socket.once('close', () => this.connections.delete(socket));
    });
    this.setHttpServer(server);
  }

  /**
   * Stops listening, and waits until all connections are closed. Node closes idle connections, but waits without a limit
   * for those that have sent nothing, a part of a head, or a part of the body of an answered request. Closes them after
   * {@link LINGER_MS}.
   */
  override close(): ReturnType<ExpressAdapter['close']> {
    this.isClosing = true;
    // Looks after pending input was read, because this process may have been suspended.
    setTimeout(() => setImmediate(() => this.closeUnanswering()), LINGER_MS).unref();
    return super.close();
  }

  private closeUnanswering(): void {
    for (const socket of this.connections) {
      if (currentAnswer(socket) === null) socket.destroy();
    }
  }

  private lingerAnswered(socket: Socket): void {
    closeSoon(socket, this.isClosing ? LINGER_MS : ANSWERED_LINGER_MS);
  }
}

function minChunkBytes(
  request: IncomingMessage,
  flushesLines: (request: IncomingMessage) => boolean,
): number {
  return encodingOf(request) !== null && flushesLines(request)
    ? MIN_FLUSHED_CHUNK_BYTES
    : MIN_CHUNK_BYTES;
}

/**
 * Discards what still arrives on an ended connection. Closes the connection when the client ends it, at the latest
 * after `lingerMs`.
 */
function closeSoon(socket: Socket, lingerMs: number): void {
  socket.resume();
  // Node stops parsing a connection when it gets such a listener. Node must have resumed it before, in an earlier tick.
  process.nextTick(() => {
    socket.removeAllListeners('data').on('data', () => undefined);
  });
  destroyLater(socket, lingerMs);
}

function destroyLater(socket: Socket, afterMs: number): void {
  const timer = setTimeout(() => socket.destroy(), afterMs).unref();
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

/** Answers as if the request could not be parsed (see `refuseUnreadable`), and closes the connection. */
function refuseChunks(server: Server, request: IncomingMessage): void {
  const { socket } = request;
  // Otherwise `refuseUnreadable` closes the connection after the answer to the request before this one.
  if (currentAnswer(socket)?.req === request) closeSoon(socket, LINGER_MS);
  const error = Object.assign(new Error('The chunks of a body are too small.'), {
    code: TINY_CHUNKS,
  });
  server.emit('clientError', error, socket);
}

/**
 * Makes the prototype `own` inherit from `base`, and returns `own`. The prototype `own` still inherits from the same
 * class of Node, because `base` inherits from that class, too.
 */
function extending<Prototype extends object>(own: object, base: Prototype): Prototype {
  return Object.setPrototypeOf(own, base) as Prototype;
}
