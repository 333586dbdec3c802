import { ProblemError } from '../../platform/errors';

const POSTPONED_BY_MS = 86_400_000;

/**
 * Returns the instant at which to retry background work that failed on a test clock. Work that a rule refuses, such as
 * an invoice above the largest amount, is retried a day later on the clock. Until then, it blocks neither the clock nor
 * other work.
 * @throws the given error if it is not a `ProblemError`, so that a defect stops the clock and is visible
 */
export function postponedUntil(error: unknown, now: Date): Date {
  if (!(error instanceof ProblemError)) throw error;
  return new Date(now.getTime() + POSTPONED_BY_MS);
}
