import type { Period } from '../../../core/time';

/** Returns the UTC month that starts at an instant. */
export function monthOf(startAt: Date): Period {
  const endAt = new Date(startAt);
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  endAt.setUTCMonth(startAt.getUTCMonth() + 1);
  return { startAt, endAt };
}

/** Archived events of one stream in one month. */
export interface ArchivedMonth {
  readonly customerId: string;
  readonly eventName: string;
  /** Start of the month, in UTC. */
  readonly startAt: Date;
  readonly endAt: Date;
  /** Number of events, voided ones included. */
  readonly events: number;
  readonly voided: number;
  /** Digest of the keys of the events, equal to the digest in a usage proof of the month. */
  readonly digest: string;
  /** Names of the files with the events. */
  readonly files: readonly string[];
}
