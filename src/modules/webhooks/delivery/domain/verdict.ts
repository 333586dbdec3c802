import { nextAttemptAt, parseRetryAfter } from './retry-schedule';

/** What came of asking the receiver: its answer, or why there was none. */
export type Reply =
  | { readonly statusCode: number; readonly retryAfter: string | null }
  | { readonly statusCode: null };

/** What an attempt's reply makes of its delivery. */
export type Verdict =
  | { readonly status: 'succeeded' }
  /** Try again then. */
  | { readonly status: 'pending'; readonly dueAt: Date }
  /** All attempts are used up. */
  | { readonly status: 'failed' }
  /** The endpoint says it is gone: 410. */
  | { readonly status: 'discarded' };

const GONE = 410;

/**
 * 2xx alone is success. A redirect is a failure, since it would lead to an address nobody checked; 410 means that nobody
 * will ever listen there again.
 * @param attempts how many attempts have ended, this one included
 * @param chance 0 to 1, chosen at random, for the jitter
 */
export function judge(reply: Reply, attempts: number, now: Date, chance: number): Verdict {
  const { statusCode } = reply;
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) return { status: 'succeeded' };
  if (statusCode === GONE) return { status: 'discarded' };
  const retryAfter = reply.statusCode === null ? null : parseRetryAfter(reply.retryAfter, now);
  const dueAt = nextAttemptAt(attempts, now, chance, retryAfter);
  return dueAt === null ? { status: 'failed' } : { status: 'pending', dueAt };
}
