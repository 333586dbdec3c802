/**
 * Something the engine promises about its own figures does not hold: totals that miss their lines,
 * two currencies in one sum, periods that overlap. It is a fault of the program or of stored data,
 * never of a caller, and no code should catch it to continue.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/**
 * Asserts what must hold before an amount leaves a core function.
 *
 * @throws InvariantError with `message` when it does not.
 */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) {
    throw new InvariantError(message);
  }
}
