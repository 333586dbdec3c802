export type Properties = Readonly<Record<string, unknown>>;

export interface UsageEvent {
  /** Chosen by the client, and unique forever. An event whose key was used before is not stored. */
  readonly idempotencyKey: string;
  readonly customerId: string;
  readonly eventName: string;
  /** Instant of the event, which determines its billing period. */
  readonly timestamp: Date;
  readonly properties: Properties;
}

export interface StoredUsageEvent extends UsageEvent {
  /** Number of the event among those of its customer and event name, in commit order. The numbers may have gaps. */
  readonly position: bigint;
  readonly receivedAt: Date;
  readonly voidedAt: Date | null;
}
