import { availableParallelism } from 'node:os';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { ShortTurns } from '../../../platform/concurrency';
import { Configuration } from '../../../platform/config';
import { serviceUnavailable } from '../../../platform/errors';

/** Time, in milliseconds, after which a start is taken to be blocked by a lock, so that the next one begins. */
const MAX_TURN_MS = 500;
/** Share of the connection pool for starts that take longer than their turn, as for each kind of usage that waits. */
const OVERDUE_SHARE = 0.2;
/** Longest wait for a turn. Shorter than the default of `SHUTDOWN_TIMEOUT_MS`. */
const LONGEST_WAIT_MS = 20_000;

/**
 * Lets few subscriptions start at once: as many as there are cores, at least two, on at most half of the connections.
 * More at once would not be faster, because each start waits for an invoice number. Requests wait for their turn before
 * a transaction is open, so it must be outside of `IdempotencyInterceptor`. Previews take no turn.
 */
@Injectable()
export class StartTurnsInterceptor implements NestInterceptor {
  private readonly turns: ShortTurns;

  constructor({ databasePoolSize }: Configuration) {
    const cores = Math.max(2, availableParallelism());
    this.turns = new ShortTurns(
      Math.min(cores, Math.floor(databasePoolSize / 2)),
      MAX_TURN_MS,
      Math.max(1, Math.floor(databasePoolSize * OVERDUE_SHARE)),
    );
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { query } = context.switchToHttp().getRequest<Request>();
    if (query['preview'] === 'true') return next.handle();
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(tooManyStarts()), LONGEST_WAIT_MS);
    const start = (): Promise<unknown> => {
      clearTimeout(timer);
      return lastValueFrom(next.handle());
    };
    return from(this.turns.run(start, waiting.signal));
  }
}

function tooManyStarts(): Error {
  return serviceUnavailable('Too many subscriptions are being started. Nothing was stored.');
}
