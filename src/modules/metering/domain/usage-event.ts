/** Properties of an event: any JSON values. */
export type Properties = Readonly<Record<string, unknown>>;

/** Usage event as reported by a client. */
export interface UsageEvent {
  /** Chosen by the client, and unique forever: an event whose key was used before is not stored. */
  readonly idempotencyKey: string;
  readonly customerId: string;
  readonly eventName: string;
  /** Instant of the event, which determines its billing period. */
  readonly timestamp: Date;
  readonly properties: Properties;
}

export interface StoredUsageEvent extends UsageEvent {
  /** Position in its stream, in commit order; may have gaps. */
  readonly position: bigint;
  readonly receivedAt: Date;
  readonly voidedAt: Date | null;
}
