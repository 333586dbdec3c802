import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from './body-guard';

/**
 * Returns middleware that closes the connection of an answered request if the body of the request does not end within
 * `graceMs` after the answer. Node reads such a body without a time limit. Example: the rest of a large body after a
 * refusal that did not need it.
 */
export function endUnreadBodies(graceMs: number) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    if (hasBody(request)) {
      // Node's streams set `request.socket` to null when they destroy the request.
      const { socket } = request;
      response.once('finish', () => {
        if (request.complete || socket.destroyed) return;
        const timer = setTimeout(() => {
          if (!request.complete) socket.destroy();
        }, graceMs);
        // Without the end of its body, an answered request does not emit `close`, even after that of its connection.
        const stop = (): void => {
          clearTimeout(timer);
          socket.off('close', stop);
        };
        request.once('close', stop);
        socket.once('close', stop);
      });
    }
    next();
  };
}
