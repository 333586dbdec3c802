/** Fields of a subscription that decide whether it gives access. */
export interface AccessState {
  readonly status: string;
  /**
   * Start of the grace period: the instant at which the subscription became past due or unpaid. Null without a grace
   * period.
   */
  readonly pastDueSince: Date | null;
  /** Scheduled end; null if none is scheduled. */
  readonly cancelAt: Date | null;
}

/** Result of an access check. It holds until the instant `until`; null: until the subscription changes. */
export interface CustomerAccess {
  readonly isGiven: boolean;
  readonly until: Date | null;
}

const NONE: CustomerAccess = { isGiven: false, until: null };

/**
 * Decides whether a subscription gives the entitlements of its plan and add-ons at `now`. It gives them while it is
 * trialing or active. While it is past due, it gives them until its grace period ends. It gives none before its start
 * or first payment, while it is paused or unpaid, and after its end.
 */
export function accessOf(
  { status, pastDueSince, cancelAt }: AccessState,
  graceMs: number,
  now: Date,
): CustomerAccess {
  if (cancelAt !== null && cancelAt <= now) return NONE;
  switch (status) {
    case 'trialing':
    case 'active':
      return { isGiven: true, until: cancelAt };
    case 'past_due': {
      if (pastDueSince === null) return { isGiven: true, until: cancelAt };
      const graceEndsAt = new Date(pastDueSince.getTime() + graceMs);
      return graceEndsAt <= now
        ? NONE
        : { isGiven: true, until: earliest([graceEndsAt, cancelAt]) };
    }
    default:
      return NONE;
  }
}

/** Returns the earliest of the instants that are not null; null if there is none. */
export function earliest(instants: readonly (Date | null)[]): Date | null {
  return instants.reduce<Date | null>(
    (first, one) => (one === null || (first !== null && first <= one) ? first : one),
    null,
  );
}
