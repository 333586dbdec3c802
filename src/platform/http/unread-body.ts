import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody } from './body-guard';

/**
 * Returns middleware that closes the connection of an answered request if its body does not end within `graceMs` after
 * the answer. Node reads such a body without a time limit, for example after a refusal that did not need it.
 */
export function endUnreadBodies(graceMs: number) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    if (hasBody(request)) {
      response.once('finish', () => {
        if (request.complete) return;
        const timer = setTimeout(() => {
          if (!request.complete) request.socket.destroy();
        }, graceMs);
        request.once('close', () => {
          clearTimeout(timer);
        });
      });
    }
    next();
  };
}
