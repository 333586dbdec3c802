import { availableParallelism } from 'node:os';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { ShortTurns } from '../../../platform/concurrency';
import { Configuration } from '../../../platform/config';
import { serviceUnavailable } from '../../../platform/errors';
import { Lifecycle } from '../../../platform/observability';

/** Time, in milliseconds, after which a start is taken to be blocked by a lock, so that the next one begins. */
const MAX_TURN_MS = 500;
/** Share of the connection pool for starts. Most of the rest is for usage that waits for locks. */
const MAX_SHARE = 0.3;
const LONGEST_WAIT_MS = 20_000;

/**
 * Lets few subscriptions start at once: as many as there are cores, at least two, on a part of the connections. The rest
 * of this part, at least one connection if there are two or more, is for starts that take longer than their turn. More
 * starts at once would not be faster, because each waits for an invoice number. Requests wait for their turn before a
 * transaction is open, so it must be outside of `IdempotencyInterceptor`. Previews take no turn.
 */
@Injectable()
export class StartTurnsInterceptor implements NestInterceptor {
  private readonly turns: ShortTurns;

  constructor(
    { databasePoolSize }: Configuration,
    private readonly lifecycle: Lifecycle,
  ) {
    const most = Math.max(1, Math.floor(databasePoolSize * MAX_SHARE));
    const atOnce = Math.min(Math.max(2, availableParallelism()), Math.max(1, most - 1));
    this.turns = new ShortTurns(atOnce, MAX_TURN_MS, most - atOnce);
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    if (http.getRequest<Request>().query['preview'] === 'true') return next.handle();
    const start = (): Promise<unknown> => lastValueFrom(next.handle());
    return from(this.inTurn(start, http.getResponse<Response>()));
  }

  /** Runs the start in its turn. It gives up its place if its client leaves, the process stops or it waits too long. */
  private async inTurn(start: () => Promise<unknown>, response: Response): Promise<unknown> {
    const { stopping } = this.lifecycle;
    const waiting = new AbortController();
    const leave = (): void => waiting.abort(refusal('The client has left.'));
    const stop = (): void => waiting.abort(refusal('The service is stopping.'));
    const timer = setTimeout(() => {
      waiting.abort(refusal('Too many subscriptions are being started.'));
    }, LONGEST_WAIT_MS);
    response.once('close', leave);
    stopping.addEventListener('abort', stop);
    const result = this.turns.run(start, waiting.signal);
    // Ends only a wait: a start whose turn began at once goes on.
    if (response.closed) leave();
    if (stopping.aborted) stop();
    return result.finally(() => {
      clearTimeout(timer);
      response.off('close', leave);
      stopping.removeEventListener('abort', stop);
    });
  }
}

function refusal(reason: string): Error {
  return serviceUnavailable(
    `${reason} This request stored nothing. Repeat it with the same idempotency key.`,
  );
}
