const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Pause before each of the ten attempts, including the first. All pauses together are about three days. */
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

/** Largest fraction by which a pause is randomly changed, so that deliveries that failed together spread out. */
export const JITTER = 0.2;

/** Longest pause between two attempts: the last of {@link PAUSES_MS}, doubled because of `Retry-After`. */
export const LONGEST_PAUSE_MS = 48 * HOUR_MS;

/**
 * An endpoint is disabled if all its attempts failed for this time. The time starts again after more than two days
 * without a failure.
 */
const FAILING_LIMIT_MS = 120 * HOUR_MS;

/** @param since time of the first failure since the last success; null: none */
export function hasFailedTooLong(since: Date | null, now: Date): boolean {
  return since !== null && now.getTime() - since.getTime() >= FAILING_LIMIT_MS;
}

/**
 * Returns the time of the next attempt, or null if no attempt is left.
 * @param attempts number of failed attempts, at least 1
 * @param chance random number from 0 to 1 for the jitter
 * @param retryAfterMs pause that the receiver requested with `Retry-After`; null if none. Can lengthen the usual pause,
 *   to at most twice the value in {@link PAUSES_MS}
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
 * Returns the pause that a `Retry-After` header (RFC 9110, 10.2.3) requests, in milliseconds. Returns null if the
 * header is absent, or is neither a number of seconds nor a date in the future.
 */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  if (header === null) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) || at <= now.getTime() ? null : at - now.getTime();
}
