import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { serviceUnavailable } from '../errors';

/** Whether this process still takes new work. */
@Injectable()
export class Lifecycle implements OnModuleDestroy {
  private readonly stop = new AbortController();
  /** Gives up each body that is being read, unless it is there. */
  private readonly reading = new Set<() => void>();

  /** Aborted when the process begins to stop. */
  get stopping(): AbortSignal {
    return this.stop.signal;
  }

  get draining(): boolean {
    return this.stop.signal.aborted;
  }

  /** The first hook of a shutdown, before anything is waited for. */
  onModuleDestroy(): void {
    this.stop.abort();
    for (const giveUp of this.reading) giveUp();
  }

  /** Middleware: while draining, answers close their connection, so that clients go elsewhere. */
  readonly closeWhenDraining = (
    _request: Request,
    response: Response,
    next: NextFunction,
  ): void => {
    if (this.draining) response.setHeader('Connection', 'close');
    next();
  };

  /** The same middleware, which reads bodies, but for those that are not there when the process begins to stop. */
  unlessStopping(read: RequestHandler): RequestHandler {
    return (request, response, next) => {
      const done = (error?: unknown): void => {
        if (this.reading.delete(giveUp)) next(error);
      };
      const giveUp = (): void => {
        if (!request.complete) done(serviceUnavailable('The service stopped while the body came.'));
      };
      this.reading.add(giveUp);
      void read(request, response, done);
    };
  }
}
