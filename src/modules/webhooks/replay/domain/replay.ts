export const REPLAY_STATUSES = ['running', 'completed', 'failed'] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];

export const REPLAY_FAILURES = ['replay_too_large', 'webhook_endpoint_inactive'] as const;
export type ReplayFailure = (typeof REPLAY_FAILURES)[number];

/** Largest number of events that one replay sends. */
export const MAX_REPLAYED = 100_000;

/** Repeated delivery of the events of a period to one endpoint. Runs in the background, step by step. */
export interface Replay {
  readonly id: string;
  readonly endpointId: string;
  /** Period `[fromAt, toAt)` in which the events happened. */
  readonly fromAt: Date;
  readonly toAt: Date;
  /** Event names or patterns. */
  readonly events: readonly string[];
  readonly status: ReplayStatus;
  /** Null unless the replay failed. */
  readonly failureCode: ReplayFailure | null;
  /** Instant and id of the last event read. The next step continues after it. */
  readonly readToAt: Date;
  readonly readToId: string;
  /** Events read so far, whether they matched or not. */
  readonly eventsRead: number;
  /** Deliveries created so far. */
  readonly replayed: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
