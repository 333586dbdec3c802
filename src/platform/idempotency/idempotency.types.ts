/** An answer as it went out, and goes out again: the same bytes. */
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
  /** null while the first request has not answered yet */
  readonly answer: Answer | null;
}

/** The request being answered, for those who store its answer in their own transaction. */
export interface KeyedRequest {
  readonly key: string;
  readonly fingerprint: string;
}
