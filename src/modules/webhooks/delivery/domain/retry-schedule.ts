const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Pause before each attempt, the first one included: ten attempts over about three days. */
export const PAUSES_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

/** Jitter of a pause, as a fraction, so that deliveries that failed together are not retried together. */
export const JITTER = 0.2;

/** An endpoint whose attempts all failed for this long is disabled. */
export const FAILING_LIMIT_MS = 120 * HOUR_MS;

/**
 * Returns the time of the next attempt, or null when all attempts are used up.
 * @param attempts number of failed attempts, at least 1
 * @param chance random number from 0 to 1 that places the pause within the jitter
 * @param retryAfterMs `Retry-After` of the receiver, which lengthens the pause to at most twice its length; null: none
 */
export function nextAttemptAt(
  attempts: number,
  now: Date,
  chance: number,
  retryAfterMs: number | null,
): Date | null {
  const pauseMs = PAUSES_MS[attempts];
  if (pauseMs === undefined) return null;
  const jittered = Math.trunc(pauseMs * (1 - JITTER + 2 * JITTER * chance));
  const asked = Math.min(Math.max(retryAfterMs ?? 0, jittered), 2 * pauseMs);
  return new Date(now.getTime() + Math.max(asked, jittered));
}

/**
 * Returns the pause that a `Retry-After` header (RFC 9110, 10.2.3) asks for, in milliseconds. Null without a header, or when it
 * is neither a number of seconds nor a date in the future.
 */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) || at <= now.getTime() ? null : at - now.getTime();
}
