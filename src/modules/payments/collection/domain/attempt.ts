const DAY_MS = 86_400_000;

/**
 * When the next automatic attempt at an invoice is due: at once after none, and so many days after the n-th.
 * @param retryDays the pause after each attempt that failed
 * @returns null where the attempts are used up
 */
export function nextAttemptAt(
  attemptCount: number,
  retryDays: readonly number[],
  now: Date,
): Date | null {
  if (attemptCount === 0) return now;
  const days = retryDays[attemptCount - 1];
  return days === undefined ? null : new Date(now.getTime() + days * DAY_MS);
}

/** What an automatic attempt at an invoice finds when its time has come. */
export interface AttemptFacts<Method> {
  /** The default of the customer, where it has one and was not deleted. */
  readonly method: Method | null;
  /** Minor units that are neither paid nor being paid. */
  readonly payableMinor: bigint;
  readonly isSubscriptionUnpaid: boolean;
}

/**
 * What is charged; null: the invoice waits open, until the customer has a method to try, the payment under way has ended, or
 * somebody pays it. Nobody keeps asking a method that failed as often as is planned: an unpaid subscription waits for
 * another one.
 */
export function methodToCharge<Method>(facts: AttemptFacts<Method>): Method | null {
  return facts.payableMinor > 0n && !facts.isSubscriptionUnpaid ? facts.method : null;
}
