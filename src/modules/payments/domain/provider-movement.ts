/** Providers that list their charges and refunds. */
export const LISTING_PROVIDERS = ['stripe'] as const;
export type ListingProvider = (typeof LISTING_PROVIDERS)[number];

export const MOVEMENT_KINDS = ['charge', 'refund'] as const;
export type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** `succeeded`: the money has moved. `open`: the money may still move. `ended`: the money will not move. */
export const MOVEMENT_STATES = ['succeeded', 'open', 'ended'] as const;
export type MovementState = (typeof MOVEMENT_STATES)[number];

/** A charge or refund in a provider's list. */
export interface ProviderMovement {
  readonly kind: MovementKind;
  readonly reference: string;
  /**
   * Our id of the payment or refund, as read from the metadata. Null: the charge or refund was made at the provider or
   * by another service, or its metadata were changed.
   */
  readonly subjectId: string | null;
  /**
   * For a refund: true if its metadata name another environment than ours, such as a former one. The refund then counts
   * as ours only if this database has the refund or its charge.
   */
  readonly isOfOtherEnvironment?: boolean;
  /** For a refund: the provider's id of the refunded charge. Null for a charge. */
  readonly chargeReference: string | null;
  /** Minor units of `currency`. */
  readonly amount: bigint;
  readonly currency: string;
  readonly state: MovementState;
}

export interface CurrentMovement extends ProviderMovement {
  /** True if the charge was refunded in full. For a refund: true if the charge that it refunds was refunded in full. */
  readonly isChargeRefunded: boolean;
}

/** Page of a provider's list of charges or refunds. Includes those of other services that use the same account. */
export interface MovementPage {
  readonly movements: readonly ProviderMovement[];
  /** Value of `after` for the next page; null: this is the last page. */
  readonly next: string | null;
}

export interface MovementQuery {
  readonly kind: MovementKind;
  /** Period `[from, to)` in which the charges or refunds were made, by the provider's clock. */
  readonly from: Date;
  readonly to: Date;
  /** `next` of the previous page; null for the first page. */
  readonly after: string | null;
}

/** Charges and refunds of a provider. Each method returns null if the provider did not answer. */
export interface ProviderMovements {
  list(query: MovementQuery): Promise<MovementPage | null>;
  /** Returns the current charge or refund; `absent`: not found, or in an unknown currency; null: the request failed. */
  read(kind: MovementKind, reference: string): Promise<CurrentMovement | 'absent' | null>;
}
