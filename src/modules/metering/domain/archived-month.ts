import type { Period } from '../../../core/time';

/** Returns the UTC month that starts at an instant. */
export function monthOf(startAt: Date): Period {
  const endAt = new Date(startAt);
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  endAt.setUTCMonth(startAt.getUTCMonth() + 1);
  return { startAt, endAt };
}

/** Archived events of one customer and event name in one month. */
export interface ArchivedMonth {
  readonly customerId: string;
  readonly eventName: string;
  /** Start of the month, in UTC. */
  readonly startAt: Date;
  readonly endAt: Date;
  /** Number of events, including voided ones. */
  readonly events: number;
  readonly voided: number;
  /** SHA-256 of the idempotency keys of the events, as in `UsageProof.digest`. */
  readonly digest: string;
  readonly files: readonly string[];
}
