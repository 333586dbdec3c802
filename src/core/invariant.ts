/**
 * Thrown when an invariant is broken, for example when a total differs from its lines or two periods overlap. The cause
 * is a defect of the program or of stored data, never a mistake of an API client. Do not catch it in order to continue.
 */
export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) {
    throw new InvariantError(message);
  }
}
