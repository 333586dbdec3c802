import { setMaxListeners } from 'node:events';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { serviceUnavailable } from '../errors';

/** Time for which a body may arrive if its reading begins while the process stops. */
const LATE_BODY_MS = 1_000;

/** Tracks whether this process still accepts new work. */
@Injectable()
export class Lifecycle implements OnModuleDestroy {
  private readonly stop = new AbortController();
  /** Callbacks, one for each request body that is being read. Each refuses the request if the body is incomplete. */
  private readonly reading = new Set<() => void>();

  constructor() {
    // Each NDJSON body in flight and each waiting start of a subscription listens.
    setMaxListeners(0, this.stop.signal);
  }

  /** Signal that is aborted when the process starts to stop. */
  get stopping(): AbortSignal {
    return this.stop.signal;
  }

  /** Signal for a body whose reading begins now. When the signal is aborted, an incomplete body must be refused. */
  get bodyDeadline(): AbortSignal {
    if (!this.draining) return this.stop.signal;
    const late = new AbortController();
    // Checks after pending input was read, because this process may have been suspended.
    setTimeout(() => setImmediate(() => late.abort()), LATE_BODY_MS).unref();
    return late.signal;
  }

  get bodiesInFlight(): number {
    return this.reading.size;
  }

  get draining(): boolean {
    return this.stop.signal.aborted;
  }

  /** Aborts `stopping`, and refuses requests whose bodies have not fully arrived. Runs first in a shutdown. */
  onModuleDestroy(): void {
    this.stop.abort();
    for (const giveUp of this.reading) giveUp();
  }

  /** Middleware of a stopping process: closes connections after the answer, so that clients connect elsewhere. */
  readonly closeWhenDraining = (
    _request: Request,
    response: Response,
    next: NextFunction,
  ): void => {
    if (this.draining) response.setHeader('Connection', 'close');
    next();
  };

  /** Wraps middleware that reads request bodies. When the process stops, refuses requests with incomplete bodies. */
  refuseBodiesOnStop(read: RequestHandler): RequestHandler {
    return (request, response, next) => {
      const done = (error?: unknown): void => {
        if (this.reading.delete(giveUp)) next(error);
      };
      const giveUp = (): void => {
        if (!request.complete)
          done(serviceUnavailable('The service stopped before the whole body arrived.'));
      };
      this.reading.add(giveUp);
      void read(request, response, done);
      if (this.draining) this.bodyDeadline.addEventListener('abort', giveUp);
    };
  }
}
