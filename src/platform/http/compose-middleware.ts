import type { NextFunction, Request, Response } from 'express';

type MiddlewareStep = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Runs several middleware functions in order, as Express would, but faster. Express's router takes about as long to
 * find a function as most functions take to run. The comment of `useFastJson` states the gain.
 */
export function composeMiddleware(...steps: readonly MiddlewareStep[]): MiddlewareStep {
  return (request, response, done) => {
    let index = 0;
    const next: NextFunction = (error?: unknown) => {
      const step = error ? undefined : steps[index];
      index += 1;
      if (step === undefined) {
        done(error);
        return;
      }
      try {
        step(request, response, next);
      } catch (thrown) {
        done(thrown);
      }
    };
    next();
  };
}
