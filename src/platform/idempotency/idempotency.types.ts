export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ClaimedKey {
  readonly key: string;
  readonly fingerprint: string;
  readonly resourceId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export interface KnownKey {
  readonly fingerprint: string;
  /** Resource that the request creates or changes; null if the key is claimed and answered in the same transaction. */
  readonly resourceId: string | null;
  /** Stored answer; null until the first request has answered. */
  readonly answer: Answer | null;
}

export interface KeyedRequest {
  readonly key: string;
  readonly fingerprint: string;
}
