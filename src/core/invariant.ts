/**
 * A broken invariant of the engine: totals that differ from their lines, two currencies in one sum, periods that
 * overlap. The cause is a defect of the program or of stored data, never a fault of an API client. Do not catch it to
 * continue.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** @throws {InvariantError} with `message` if the condition is false */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) {
    throw new InvariantError(message);
  }
}
