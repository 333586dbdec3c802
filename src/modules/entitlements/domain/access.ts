/** How far a subscription is, as far as access depends on it. */
export interface AccessState {
  readonly status: string;
  /** When it fell behind with a payment; null where it is not. */
  readonly pastDueSince: Date | null;
  /** When it is to end, where that is planned. */
  readonly cancelAt: Date | null;
}

/** Whether there is access, and until when that is known to hold; null: until something changes. */
export interface Access {
  readonly isGiven: boolean;
  readonly until: Date | null;
}

const NONE: Access = { isGiven: false, until: null };

/**
 * Whether a subscription gives what its plan and add-ons allow: in a trial and while it is active, and for a grace after
 * it fell behind with a payment; not while it waits for its start or its first payment, is paused or unpaid, and not once it has ended.
 */
export function accessOf(
  { status, pastDueSince, cancelAt }: AccessState,
  graceMs: number,
  now: Date,
): Access {
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

/** The earliest of some instants; null where there is none. */
export function earliest(instants: readonly (Date | null)[]): Date | null {
  return instants.reduce<Date | null>(
    (first, one) => (one === null || (first !== null && first <= one) ? first : one),
    null,
  );
}
