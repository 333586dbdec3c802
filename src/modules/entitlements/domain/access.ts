import { earliest } from '../../../core/time';

export interface AccessState {
  readonly status: string;
  /** Time at which the subscription became past due or unpaid. Null without a grace period. */
  readonly pastDueSince: Date | null;
  /** Scheduled end; null if none is scheduled. */
  readonly cancelAt: Date | null;
}

/** Result of an access check. Valid until `until`. If `until` is null, valid until the subscription changes. */
export interface CustomerAccess {
  readonly isGiven: boolean;
  readonly until: Date | null;
}

const NONE: CustomerAccess = { isGiven: false, until: null };

/**
 * Checks if a subscription gives the entitlements of its plan and add-ons at `now`. It gives them while it is trialing
 * or active, and while it is past due until its grace period ends. It gives nothing in any other status, and nothing
 * from its scheduled end on.
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
