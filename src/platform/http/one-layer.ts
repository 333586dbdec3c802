import type { NextFunction, Request, Response } from 'express';

type Step = (request: Request, response: Response, next: NextFunction) => void;

/**
 * Middleware that runs others one after the other, as Express would if each were used alone. Its router spends about as
 * much on finding the next middleware as most of these do on their work.
 */
export function inOneLayer(...steps: readonly Step[]): Step {
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
