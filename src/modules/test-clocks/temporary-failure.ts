import { isInterruption } from '../../platform/database';
import { ProblemError } from '../../platform/errors';

/** Returns true if the database or a service was temporarily unavailable, so that a retry may succeed. */
export function isTemporaryFailure(error: unknown): boolean {
  if (error instanceof ProblemError) return error.definition.kind === 'unavailable';
  return isInterruption(error);
}
