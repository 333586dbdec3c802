import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { currentAnswer } from './current-answer';

/**
 * Maximum number of requests that wait on one connection. They need a limit of their own, because rate limits count a
 * request only when it is handled. Few clients send further requests before they have the answer.
 */
const MAX_WAITING = 100;
/**
 * Maximum number of connections that get their current answer before they are closed for too many waiting requests.
 * Further connections are closed at once. A connection that waits for its answer keeps the requests of one read in
 * memory, some 4 MB.
 */
const MAX_CLOSING = 20;

/**
 * Returns a listener that handles the requests of a connection one after the other. Each request starts when the
 * previous answer has been sent. Drops waiting requests when the connection ends, or is closed after an answer with
 * `Connection: close`. Closes a connection with more than {@link MAX_WAITING} waiting requests after its current
 * answer.
 *
 * Node itself starts pipelined requests at once. Their responses have no socket until their turn. If the client left,
 * these responses would not emit `close`, and resources that are released on this event would stay in use.
 */
export function inTurn(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const waiting = new WeakMap<Socket, number>();
  const closing = new Set<Socket>();
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    if (response.socket !== null) {
      if (socket.writable) handle(request, response);
      return;
    }
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) {
      closeAfterAnswer(socket, closing);
      return;
    }
    waiting.set(socket, count);
    stopReading(socket);
    // Otherwise it would run in the context of the request before it, with its caller.
    const run = AsyncResource.bind(() => {
      handle(request, response);
    });
    response.once('socket', () => {
      // Lets other connections take a turn between two requests of this one.
      setImmediate(() => {
        const left = (waiting.get(socket) ?? 1) - 1;
        waiting.set(socket, left);
        if (left === 0) readAgain(socket);
        if (socket.writable) run();
      });
    });
  };
}

/**
 * Closes a connection after its current answer. If the answer were cut off, the client would repeat a request that may
 * have changed data. Closes the connection at once if no answer is pending, if its headers were already sent, or if
 * {@link MAX_CLOSING} other connections are closing.
 */
function closeAfterAnswer(socket: Socket, closing: Set<Socket>): void {
  if (closing.has(socket)) return;
  const response = currentAnswer(socket);
  if (response === null || response.headersSent || closing.size >= MAX_CLOSING) {
    socket.destroy();
    return;
  }
  response.setHeader('Connection', 'close');
  closing.add(socket);
  socket.once('close', () => closing.delete(socket));
}

/** Stops reading from a connection, so that its client has to wait before it can send more. */
function stopReading(socket: Socket): void {
  if (socket.listeners('resume').includes(pause)) return;
  socket.pause();
  // Node resumes the connection at the end of each request, and when the client has read a part of an answer.
  socket.on('resume', pause);
}

function readAgain(socket: Socket): void {
  socket.off('resume', pause);
  socket.resume();
}

function pause(this: Socket): void {
  this.pause();
}
