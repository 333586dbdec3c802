export const REPLAY_STATUSES = ['running', 'completed', 'failed'] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];

export const REPLAY_FAILURES = ['replay_too_large', 'webhook_endpoint_inactive'] as const;
export type ReplayFailure = (typeof REPLAY_FAILURES)[number];

/** Largest number of deliveries that one replay creates. */
export const MAX_REPLAYED = 100_000;

/** A request to send the events of a period to one endpoint again. It runs in the background, step by step. */
export interface Replay {
  readonly id: string;
  readonly endpointId: string;
  /** Period `[fromAt, toAt)` in which the events happened. */
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly events: readonly string[];
  readonly status: ReplayStatus;
  readonly failureCode: ReplayFailure | null;
  /**
   * Time of the last event that was read; `readToId` is its id. The next step continues after this event. Before the
   * first step: `fromAt` and an empty id.
   */
  readonly readToAt: Date;
  readonly readToId: string;
  /** Number of events read so far, matching or not. */
  readonly eventsRead: number;
  /** Number of deliveries created so far. */
  readonly replayed: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}
