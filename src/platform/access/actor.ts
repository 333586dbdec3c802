import type { NextFunction, Request, Response } from 'express';
import { CallScope } from '../database';
import { principalOf } from './principal';

/** Actor of due work, and of other changes that no request asks for, such as a threshold that usage reaches. */
const WORKER = 'worker';

const calls = new CallScope<string>();

/** Returns the actor of the changes that the current call makes: the id of its principal. */
export function currentActor(): string {
  return calls.current ?? WORKER;
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Middleware that makes the caller the actor of what the request changes. Must come last, because reading a body leaves
 * the asynchronous call. Reads change nothing and do not pay for it.
 * @param isBatched true for requests whose changes are written together with those of others
 */
export function actAsCaller(isBatched: (request: Request) => boolean) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (SAFE_METHODS.has(request.method) || isBatched(request)) {
      next();
      return;
    }
    const end = calls.start(principalOf(request).id, next);
    response.once('close', end);
  };
}
