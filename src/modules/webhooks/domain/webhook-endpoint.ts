import type { Metadata } from '../../../core/metadata';

/** Endpoints that are not deleted, at the most: every event is matched against all of them. */
export const MOST_ENDPOINTS = 100;
export const MOST_EVENT_NAMES = 100;

/** Why the engine itself switched an endpoint off: it answered 410, or nothing but failures for too long. */
export const DISABLED_REASONS = ['gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** An address that is told of events. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly version: number;
  /** As it was sent; `faultOfUrl` found nothing wrong with it. */
  readonly url: string;
  /** `resource.happened`, `resource.*` or `*`; unique, 1 to `MOST_EVENT_NAMES`. */
  readonly events: readonly string[];
  readonly description: string | null;
  /** Nothing is sent to an endpoint that is not active. */
  readonly isActive: boolean;
  /** Whether the events of one object arrive one after the other. */
  readonly ordered: boolean;
  /** Only where the engine switched it off, and nobody has switched it on again since. */
  readonly disabledReason: DisabledReason | null;
  readonly metadata: Metadata;
  /** Set when it was deleted; the row stays, because deliveries refer to it. */
  readonly deletedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a new endpoint is made of. */
export type EndpointTerms = Pick<WebhookEndpoint, 'url' | 'events' | 'description' | 'metadata'>;

/** What an update may change; what is left out stays. */
export interface EndpointChange {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  /** null clears it. */
  readonly description?: string | null | undefined;
  readonly isActive?: boolean | undefined;
  readonly ordered?: boolean | undefined;
  readonly metadata?: Metadata | undefined;
}
