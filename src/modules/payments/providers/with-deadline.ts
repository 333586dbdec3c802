/** Time limit of a call to a provider. Two consecutive calls end well within a lease (`pollLease`). */
export const CALL_DEADLINE_MS = 30_000;

export class NoAnswerError extends Error {}

/** @throws {NoAnswerError} if the call has not ended within 30 s; its outcome is unknown */
export async function withDeadline<Result>(call: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new NoAnswerError(`no answer within ${CALL_DEADLINE_MS} ms`));
    }, CALL_DEADLINE_MS);
  });
  try {
    return await Promise.race([call, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
