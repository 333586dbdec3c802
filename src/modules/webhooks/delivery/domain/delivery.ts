import type { InstantRange } from '../../../../core/time';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'discarded'] as const;
/** `discarded`: the endpoint was deleted or answered 410. A retry or replay is a new delivery. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Reason why a delivery was created. */
export const DELIVERY_KINDS = ['event', 'retry', 'replay', 'test'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

/** Filter of a list; null matches all. */
export interface DeliveryFilter {
  readonly endpointId: string | null;
  readonly eventType: string | null;
  readonly statuses: readonly DeliveryStatus[] | null;
  readonly created: InstantRange;
}

/** Statuses whose deliveries can be retried together. */
export const RETRIED_STATUSES = [
  'failed',
  'discarded',
] as const satisfies readonly DeliveryStatus[];
export type RetriedStatus = (typeof RETRIED_STATUSES)[number];

/** Largest number of deliveries that one request retries. */
export const MAX_RETRIED = 1_000;

/** Delivery of one event to one endpoint. */
export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Object and sequence of the event. An ordered endpoint gets the events of one object by sequence. */
  readonly objectId: string;
  readonly sequence: number;
  readonly kind: DeliveryKind;
  readonly status: DeliveryStatus;
  /** Number of attempts that have ended. */
  readonly attempts: number;
  /** Time of the next attempt, or end of the lease of the running one; null when the status is final. */
  readonly dueAt: Date | null;
  /** Fencing token, incremented by each claim. Only the result of the newest claim is written. */
  readonly fence: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Record of one attempt. */
export interface Attempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** HTTP status; null when no response came. */
  readonly statusCode: number | null;
  /** Reason why no response came; null when one came. */
  readonly error: string | null;
  /** Start of the response body; null when no response came. */
  readonly responseStart: string | null;
}
