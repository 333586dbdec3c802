import type { Transitions } from '../../../../core/states';

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'discarded'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why it was made: the event itself, or somebody who wants it (again). */
export const DELIVERY_KINDS = ['event', 'retry', 'replay', 'test'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

/** One event on its way to one endpoint. */
export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  /** Object and sequence of the event: what an ordered endpoint is told in turn. */
  readonly objectId: string;
  readonly sequence: number;
  readonly kind: DeliveryKind;
  readonly status: DeliveryStatus;
  /** How many attempts have ended. */
  readonly attempts: number;
  /** When the next attempt is due, or until when the one under way is leased; null when the status is final. */
  readonly dueAt: Date | null;
  /** Counts the claims: only the result of the newest is written. */
  readonly fence: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** `discarded`: the endpoint is gone. A retry or replay is a new delivery. */
export const DELIVERY_TRANSITIONS: Transitions<DeliveryStatus> = {
  pending: ['succeeded', 'failed', 'discarded'],
  succeeded: [],
  failed: [],
  discarded: [],
};

/** What became of one attempt. */
export interface Attempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  /** HTTP status; null when no answer came. */
  readonly statusCode: number | null;
  /** Why no answer came; null when one did. */
  readonly error: string | null;
  /** The start of the answer's body. */
  readonly responseStart: string | null;
}
