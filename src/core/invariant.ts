/**
 * A broken invariant of the engine: totals that differ from their lines, two currencies in one sum, periods that overlap. It is
 * a defect of the program or of stored data, never a fault of an API client. Do not catch it to continue.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * Throws {@link InvariantError} unless the condition holds.
 * @throws InvariantError with `message` when it does not.
 */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) {
    throw new InvariantError(message);
  }
}
