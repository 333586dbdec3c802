import { AsyncResource } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Returns a listener that handles the requests of a connection one after the other: each when the answer to the one
 * before it has been sent. Drops those that still wait when the connection ends, or when it sends nothing more after
 * an answer with `Connection: close`.
 *
 * Node starts pipelined requests at once. Their responses have no socket until their turn, so they would never emit
 * `close` if the client left, and nothing that waits for this event would be released.
 */
export function inTurn(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const lastOf = new WeakMap<Socket, ServerResponse>();
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const before = lastOf.get(socket);
    lastOf.set(socket, response);
    if (before === undefined || response.socket !== null) {
      handle(request, response);
      return;
    }
    stopReading(socket);
    // Otherwise it would run in the context of the request before it, with its caller.
    const run = AsyncResource.bind(() => {
      handle(request, response);
    });
    before.once('finish', () => {
      // Lets other connections take a turn between two requests of this one.
      setImmediate(() => {
        if (lastOf.get(socket) === response) readAgain(socket);
        if (socket.writable) run();
      });
    });
  };
}

/** Reads nothing more from a connection, so that at most the requests of one read (64 KiB) wait. */
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
