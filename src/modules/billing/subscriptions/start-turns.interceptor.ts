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

/**
 * Time in milliseconds after which the start of a subscription counts as blocked by a lock, so that the next may begin.
 */
const MAX_TURN_MS = 500;
/**
 * Share of the database connections that starts may use at once. Most other connections are for usage that waits for
 * locks.
 */
const MAX_SHARE = 0.3;
const LONGEST_WAIT_MS = 20_000;

/**
 * Limits how many requests start subscriptions at once. More would not be faster, because each start waits for an
 * invoice number. Previews are not limited.
 * - All starts together use at most {@link MAX_SHARE} of the connections.
 * - Within this share, as many starts as there are CPU cores, at least two, run at once (fewer if the share is
 *   smaller).
 * - The rest of the share is for starts that take longer than {@link MAX_TURN_MS}.
 *
 * Must be outside of `IdempotencyInterceptor`, so that a waiting request has no open transaction.
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

  /**
   * Runs the start when its turn comes. Stops waiting if the client disconnects, if the process stops, or after 20 s.
   */
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
    // An abort ends only the wait. A start that is already running continues.
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
