import { ProblemError } from '../../platform/errors';

const POSTPONED_BY_MS = 86_400_000;

/**
 * Returns when background work on a test clock is retried after a `ProblemError`: a day later on the clock. An example
 * is an invoice whose amount is too large. Until then, the work blocks neither the clock nor other work.
 * @throws the given error if it is not a `ProblemError`, so that a defect stops the clock and is noticed
 */
export function postponedUntil(error: unknown, now: Date): Date {
  if (!(error instanceof ProblemError)) throw error;
  return new Date(now.getTime() + POSTPONED_BY_MS);
}
