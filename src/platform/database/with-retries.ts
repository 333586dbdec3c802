import { failsPartAlone, isWorthRetrying } from './postgres-errors';

/** Runs the work, up to `tries` times, until it succeeds or fails with an error that is not worth retrying. */
export async function withRetries<Result>(
  tries: number,
  work: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= tries || !isWorthRetrying(error)) throw error;
    }
  }
}

/**
 * Awaits a part of a transaction. If the part fails, throws its error. If the transaction can continue after the error
 * ({@link failsPartAlone}), undoes the part first.
 */
export async function withUndo<Result>(
  part: Promise<Result>,
  undo: () => Promise<unknown>,
): Promise<Result> {
  try {
    return await part;
  } catch (error) {
    if (failsPartAlone(error)) await undo();
    throw error;
  }
}
