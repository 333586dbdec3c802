export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Lease of the process that will answer the request in a later transaction. */
export interface KeyLease {
  readonly endsAt: Date;
  /** Number of the process, whose death ends the lease early. Null in keys of an earlier release of the service. */
  readonly owner: number | null;
}

export interface ClaimedKey {
  readonly key: string;
  readonly fingerprint: string;
  readonly resourceId: string | null;
  readonly lease: KeyLease | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface KnownKey {
  readonly fingerprint: string;
  /** Resource that the request creates or changes; null if one transaction claims and answers the key. */
  readonly resourceId: string | null;
  readonly lease: KeyLease | null;
  /** Null until the first request has answered. */
  readonly answer: Answer | null;
}

export interface KeyedRequest {
  readonly key: string;
  readonly fingerprint: string;
}
