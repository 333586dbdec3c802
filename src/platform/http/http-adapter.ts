import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';

/**
 * Express on a server whose requests and responses have Express's prototypes from the start. Express changes the prototypes of
 * each of them otherwise, and V8 has no fast access to the fields of an object whose prototype was changed: Node, Express and
 * the service then take two to three times as long for a small request.
 */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express: Express = this.getInstance();
    class ExpressRequest extends IncomingMessage {}
    class ExpressResponse extends ServerResponse {}
    express.request = extending(ExpressRequest.prototype, express.request);
    express.response = extending(ExpressResponse.prototype, express.response);
    this.setHttpServer(
      createServer({ IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse }, express),
    );
  }
}

/** Returns the prototype of a class, with the members of another prototype of the same base class. */
function extending<Prototype extends object>(own: object, base: Prototype): Prototype {
  return Object.setPrototypeOf(own, base) as Prototype;
}
