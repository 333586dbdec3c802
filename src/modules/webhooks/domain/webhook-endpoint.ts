import type { Metadata } from '../../../core/metadata';

/** Largest number of endpoints that are not deleted: every event is matched against all of them. */
export const MAX_ENDPOINTS = 100;
export const MAX_EVENT_NAMES = 100;

/** Reasons why the engine disabled an endpoint: it answered 410, or all its attempts failed for too long. */
export const DISABLED_REASONS = ['gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** A URL that events are sent to. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly version: number;
  /** As sent; `faultOfUrl` accepts it. */
  readonly url: string;
  /** `resource.happened`, `resource.*` or `*`; unique, 1 to `MAX_EVENT_NAMES`. */
  readonly events: readonly string[];
  readonly description: string | null;
  /** No events are sent to an inactive endpoint. */
  readonly isActive: boolean;
  /** If true, an event is sent only after the previous event of the same object was delivered or given up. */
  readonly ordered: boolean;
  /** Set when the engine disabled the endpoint; cleared when it is enabled again. */
  readonly disabledReason: DisabledReason | null;
  readonly metadata: Metadata;
  /** Set when the endpoint was deleted. The row stays, because deliveries refer to it. */
  readonly deletedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Fields of a new endpoint. */
export type EndpointTerms = Pick<WebhookEndpoint, 'url' | 'events' | 'description' | 'metadata'>;

/** Fields an update may change. Omitted fields stay unchanged. */
export interface EndpointChange {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  /** null clears the description. */
  readonly description?: string | null | undefined;
  readonly isActive?: boolean | undefined;
  readonly ordered?: boolean | undefined;
  readonly metadata?: Metadata | undefined;
}
