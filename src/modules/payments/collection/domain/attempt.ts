const DAY_MS = 86_400_000;

/**
 * Returns the instant of the next automatic charge of an invoice. The first charge is due at `now`. After n attempts,
 * the next charge is due `retryDays[n - 1]` days after `now`. Returns null if no attempt is left, or if the next charge
 * would be due at `end` or later.
 * @param end null: no end
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

export interface AttemptContext<Method> {
  /** Default method of the customer; null: none. */
  readonly method: Method | null;
  /** Part of the invoice that is neither paid nor reserved by a pending payment, in minor units. */
  readonly payableMinor: bigint;
  /**
   * True if the time limit for the first payment of the subscription has passed. Also true if the subscription is
   * unpaid, unless the customer has a new default method that was not charged for this invoice yet.
   */
  readonly isNotChargedAutomatically: boolean;
}

/** Returns the method to charge for a due invoice; null if the invoice must not be charged now. */
export function methodToCharge<Method>(context: AttemptContext<Method>): Method | null {
  return context.payableMinor > 0n && !context.isNotChargedAutomatically ? context.method : null;
}
