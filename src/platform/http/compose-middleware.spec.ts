import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { composeMiddleware } from './compose-middleware';

/** Returns the error that reaches the end, if any. */
function run(...steps: readonly RequestHandler[]): Promise<unknown> {
  return new Promise((resolve) => {
    composeMiddleware(...steps)({} as Request, {} as Response, resolve);
  });
}

describe('composed middleware', () => {
  const seen: string[] = [];
  const step =
    (name: string) =>
    (_request: Request, _response: Response, next: NextFunction): void => {
      seen.push(name);
      next();
    };
  const later = (_request: Request, _response: Response, next: NextFunction): void => {
    setImmediate(next);
  };
  const fault = new Error('refused');

  beforeEach(() => (seen.length = 0));

  it('runs in the order given, each when the one before is done', async () => {
    expect(await run(step('one'), later, step('two'), step('three'))).toBeUndefined();
    expect(seen).toEqual(['one', 'two', 'three']);
  });

  it.each([
    ['is passed', (_: Request, __: Response, next: NextFunction) => next(fault)],
    [
      'is thrown',
      () => {
        throw fault;
      },
    ],
  ])('ends with an error that %s', async (_, failing) => {
    expect(await run(step('one'), later, failing, step('two'))).toBe(fault);
    expect(seen).toEqual(['one']);
  });

  it('does nothing more once a step has answered', () => {
    const done = jest.fn();
    composeMiddleware(() => undefined, step('two'))({} as Request, {} as Response, done);
    expect(seen).toEqual([]);
    expect(done).not.toHaveBeenCalled();
  });
});
