import { nextAttemptAt, parseRetryAfter } from './retry-schedule';

/** Reply of the receiver; `statusCode` is null when no answer came. */
export type Reply =
  | { readonly statusCode: number; readonly retryAfter: string | null }
  | { readonly statusCode: null };

/** Status of a delivery after an attempt. */
export type AttemptOutcome =
  | { readonly status: 'succeeded' }
  /** Try again at `dueAt`. */
  | { readonly status: 'pending'; readonly dueAt: Date }
  /** All attempts are used up. */
  | { readonly status: 'failed' }
  /** The endpoint answered 410 Gone. */
  | { readonly status: 'discarded' };

const GONE = 410;

/** Returns true for an answer that says that the endpoint is permanently gone. */
export function isGone({ statusCode }: Reply): boolean {
  return statusCode === GONE;
}

/**
 * Classifies the reply to an attempt. Only 2xx is success. A redirect is a failure, because it leads to an address that
 * was not checked. 410 means that the endpoint is permanently gone.
 * @param attempts how many attempts have ended, this one included
 * @param chance 0 to 1, chosen at random, for the jitter
 */
export function classifyReply(
  reply: Reply,
  attempts: number,
  now: Date,
  chance: number,
): AttemptOutcome {
  const { statusCode } = reply;
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) return { status: 'succeeded' };
  if (isGone(reply)) return { status: 'discarded' };
  const retryAfter = reply.statusCode === null ? null : parseRetryAfter(reply.retryAfter, now);
  const dueAt = nextAttemptAt(attempts, now, chance, retryAfter);
  return dueAt === null ? { status: 'failed' } : { status: 'pending', dueAt };
}
