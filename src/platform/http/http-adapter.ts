import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express } from 'express';
import { inTurn } from './in-turn';

/**
 * Express adapter that creates requests and responses with Express's prototypes. Otherwise Express would change the
 * prototype of each object after its creation, and V8 has no fast access to the fields of such an object. A small
 * request would take two to three times as long.
 */
export class HttpAdapter extends ExpressAdapter {
  override initHttpServer(): void {
    const express: Express = this.getInstance();
    class ExpressRequest extends IncomingMessage {}
    class ExpressResponse extends ServerResponse {}
    express.request = extending(ExpressRequest.prototype, express.request);
    express.response = extending(ExpressResponse.prototype, express.response);
    this.setHttpServer(
      createServer(
        {
          IncomingMessage: ExpressRequest,
          ServerResponse: ExpressResponse,
          // `catchUnroutable` checks the header, because the answer of Node would have no body.
          requireHostHeader: false,
        },
        inTurn(express),
      ),
    );
  }
}

/**
 * Makes the prototype `own` inherit from `base`, and returns `own`. `own` still inherits from the same class of Node,
 * because `base` does too.
 */
function extending<Prototype extends object>(own: object, base: Prototype): Prototype {
  return Object.setPrototypeOf(own, base) as Prototype;
}
