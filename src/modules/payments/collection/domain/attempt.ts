const DAY_MS = 86_400_000;

/**
 * When the next automatic attempt at an invoice is due: at once after none, and so many days after the n-th.
 * @param retryDays the pause after each attempt that failed
 * @param end from when on nothing is attempted; null: there is no such instant
 * @returns null where the attempts are used up
 */
export function nextAttemptAt(
  attemptCount: number,
  retryDays: readonly number[],
  now: Date,
  end: Date | null,
): Date | null {
  const days = attemptCount === 0 ? 0 : retryDays[attemptCount - 1];
  if (days === undefined) return null;
  const at = new Date(now.getTime() + days * DAY_MS);
  return end !== null && at >= end ? null : at;
}

/** Input of the decision about an automatic attempt at a due invoice. */
export interface AttemptContext<Method> {
  /** The default of the customer, where it has one and was not deleted. */
  readonly method: Method | null;
  /** Minor units that are neither paid nor being paid. */
  readonly payableMinor: bigint;
  /** Its subscription is unpaid, or out of time for its first payment. */
  readonly isLeftAlone: boolean;
}

/**
 * Returns the method to charge, or null if the invoice stays open without an attempt: until the customer has a default
 * method, the payment in flight has ended, or someone pays the invoice. An unpaid subscription waits for another method
 * once all planned attempts have failed. A first payment is not attempted after its time limit.
 */
export function methodToCharge<Method>(context: AttemptContext<Method>): Method | null {
  return context.payableMinor > 0n && !context.isLeftAlone ? context.method : null;
}
