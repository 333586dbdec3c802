import { ProblemError } from '../../platform/errors';

const POSTPONED_BY_MS = 86_400_000;

/**
 * Returns when to retry background work that failed on a test clock with a `ProblemError`, for example because the
 * amount of an invoice is too large: a day later on the clock. Until then, the failed work blocks neither the clock nor
 * other work.
 * @throws the given error if it is not a `ProblemError`, so that a defect stops the clock and is noticed
 */
export function postponedUntil(error: unknown, now: Date): Date {
  if (!(error instanceof ProblemError)) throw error;
  return new Date(now.getTime() + POSTPONED_BY_MS);
}
