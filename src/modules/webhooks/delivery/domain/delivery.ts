import type { InstantRange } from '../../../../core/time';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'discarded'] as const;
/**
 * Status of a delivery. `discarded`: the endpoint was deleted or answered 410. Only the status `pending` can change,
 * because a retry is a new delivery.
 */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Reason why a delivery was created: the event was dispatched, or a retry, a replay or a test was requested. */
export const DELIVERY_KINDS = ['event', 'retry', 'replay', 'test'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

/** Filter of a list of deliveries. A null field matches all deliveries. */
export interface DeliveryFilter {
  readonly endpointId: string | null;
  readonly eventType: string | null;
  readonly statuses: readonly DeliveryStatus[] | null;
  readonly created: InstantRange;
}

/** Statuses of deliveries that one request can retry together. */
export const RETRIED_STATUSES = [
  'failed',
  'discarded',
] as const satisfies readonly DeliveryStatus[];
export type RetriedStatus = (typeof RETRIED_STATUSES)[number];

/** Largest number of deliveries that one request retries. */
export const MAX_RETRIED = 1_000;

/** Sending of one event to one endpoint, in one or more attempts. */
export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Object that the event is about. */
  readonly objectId: string;
  /** Number of the event among the events of the object. An ordered endpoint gets these events in this order. */
  readonly sequence: number;
  readonly kind: DeliveryKind;
  readonly status: DeliveryStatus;
  /** Number of attempts that have ended. */
  readonly attempts: number;
  /** Time of the next attempt, or end of the lease of the running attempt. Null if the status is final. */
  readonly dueAt: Date | null;
  /** Fencing token, which each claim increments. Only the result of the newest claim is written. */
  readonly fence: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Duration of the lease of a claimed delivery. Without a result, the delivery is due again when the lease ends. */
export const LEASE_MS = 60_000;

/**
 * Longest time from the creation of a delivery to the end of a lease that another process took before the delivery was
 * stored. The statement that stores it may run for 30 seconds, and clocks may differ by 5 seconds.
 */
export const LONGEST_LEASE_MS = LEASE_MS + 35_000;

/** A delivery that this process may attempt until the lease ends. */
export interface ClaimedDelivery extends Pick<
  Delivery,
  'id' | 'endpointId' | 'eventId' | 'attempts' | 'fence'
> {
  /** URL of the endpoint at the time of the claim. */
  readonly url: string;
}

export interface Attempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** HTTP status; null: no response came. */
  readonly statusCode: number | null;
  /** Reason why no response came; null: a response came. */
  readonly error: string | null;
  /** Start of the response body; null: no response came. */
  readonly responseStart: string | null;
}
