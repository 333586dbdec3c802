import { nextAttemptAt, parseRetryAfter } from './retry-schedule';

/** Reply of the receiver. `statusCode` is null if no reply came. */
export type Reply =
  | { readonly statusCode: number; readonly retryAfter: string | null }
  | { readonly statusCode: null };

export type AttemptOutcome =
  | { readonly status: 'succeeded' }
  | { readonly status: 'pending'; readonly dueAt: Date }
  /** No attempt is left. */
  | { readonly status: 'failed' };

const GONE = 410;

/** Returns true for status 410, with which the receiver asks for the end of deliveries to its URL. */
export function isGone({ statusCode }: Reply): boolean {
  return statusCode === GONE;
}

/**
 * Classifies the reply to an attempt. Only status 2xx is a success. A redirect is a failure, because the address that
 * it leads to was not checked. Status 410 is a failure too. Its delivery is discarded when the endpoint is disabled.
 * @param attempts number of attempts that have ended, including this one
 * @param chance random number from 0 to 1 for the jitter
 */
export function classifyReply(
  reply: Reply,
  attempts: number,
  now: Date,
  chance: number,
): AttemptOutcome {
  const { statusCode } = reply;
  if (statusCode !== null && statusCode >= 200 && statusCode < 300) return { status: 'succeeded' };
  const retryAfter = reply.statusCode === null ? null : parseRetryAfter(reply.retryAfter, now);
  const dueAt = nextAttemptAt(attempts, now, chance, retryAfter);
  return dueAt === null ? { status: 'failed' } : { status: 'pending', dueAt };
}
