import { failsPartAlone, isWorthRetrying } from './postgres-errors';

/** Repeats the work after a deadlock or serialization failure, up to `tries` attempts in all. */
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
 * Awaits a part of a transaction. If the part fails with an error after which the transaction can continue (see
 * {@link failsPartAlone}), undoes the part. Always throws the error of the part.
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
