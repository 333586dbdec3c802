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

/** What an automatic attempt at an invoice finds when its time has come. */
export interface AttemptFacts<Method> {
  /** The default of the customer, where it has one and was not deleted. */
  readonly method: Method | null;
  /** Minor units that are neither paid nor being paid. */
  readonly payableMinor: bigint;
  /** Its subscription is unpaid, or out of time for its first payment. */
  readonly isLeftAlone: boolean;
}

/**
 * What is charged; null: the invoice waits open, until the customer has a method to try, the payment under way has ended, or
 * somebody pays it. Nobody keeps asking a method that failed as often as is planned: an unpaid subscription waits for
 * another one. Nor does anybody ask for a first payment that comes too late.
 */
export function methodToCharge<Method>(facts: AttemptFacts<Method>): Method | null {
  return facts.payableMinor > 0n && !facts.isLeftAlone ? facts.method : null;
}
