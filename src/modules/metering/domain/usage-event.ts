/** A property of an event: what JSON can hold, numbers as they were written by the client's JSON. */
export type Properties = Readonly<Record<string, unknown>>;

/** An event as a client reports it. */
export interface UsageEvent {
  /** Chosen by the client, unique for ever: the same key twice is one event. */
  readonly idempotencyKey: string;
  readonly customerId: string;
  readonly eventName: string;
  /** When it happened: an event belongs to the period that holds this instant. */
  readonly timestamp: Date;
  readonly properties: Properties;
}

/** An event as it is kept. */
export interface StoredUsageEvent extends UsageEvent {
  /** Its place among the events of the customer under this name, in the order of their commits; may have gaps. */
  readonly position: bigint;
  readonly receivedAt: Date;
  readonly voidedAt: Date | null;
}
