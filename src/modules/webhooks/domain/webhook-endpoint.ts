import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';

/** Largest number of endpoints, without deleted ones. Limited because every event is matched against all of them. */
export const MAX_ENDPOINTS = 100;
export const MAX_EVENT_NAMES = 100;

/** `gone`: the endpoint answered 410. `failing`: all attempts failed for 120 hours. */
export const DISABLED_REASONS = ['gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** A URL of a receiver, to which events are sent. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly version: number;
  /** URL as the client sent it, checked by `faultOfUrl`. */
  readonly url: string;
  /** Subscribed names and patterns: `resource.happened`, `resource.*` or `*`. Unique, 1 to `MAX_EVENT_NAMES`. */
  readonly events: readonly string[];
  readonly description: string | null;
  readonly isActive: boolean;
  /** True: an event is sent only after all deliveries of earlier events of the same object have ended. */
  readonly ordered: boolean;
  /** Reason why the engine disabled the endpoint. Null if the engine did not disable it, or if it was enabled again. */
  readonly disabledReason: DisabledReason | null;
  readonly metadata: Metadata;
  /** Deletion time; null: not deleted. The row stays, because deliveries refer to it. */
  readonly deletedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type EndpointTerms = Pick<WebhookEndpoint, 'url' | 'events' | 'description' | 'metadata'>;

export type EndpointChange = ChangeOf<
  WebhookEndpoint,
  'url' | 'events' | 'description' | 'isActive' | 'ordered' | 'metadata'
>;

/** Returns true if the endpoint receives other events than before. */
export function hasOtherSubscription(before: WebhookEndpoint, after: WebhookEndpoint): boolean {
  return (
    before.isActive !== after.isActive ||
    JSON.stringify(before.events) !== JSON.stringify(after.events)
  );
}
