/** Providers that are built in. */
export const PROVIDER_NAMES = ['sandbox', 'manual'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** Outcome of a charge or a refund, as the provider reports it. */
export type ProviderOutcome =
  /** The money has moved. */
  | { readonly kind: 'succeeded'; readonly reference: string }
  /** The money has not moved, and will not. */
  | { readonly kind: 'failed'; readonly failureCode: string }
  /** The provider has taken the request and will know later. */
  | { readonly kind: 'pending'; readonly reference: string }
  /** The call ended without an answer. The money may or may not have moved. */
  | { readonly kind: 'unknown' };

export interface ChargeRequest {
  /** Derived from the payment's id, never the client's key: the same for every attempt at the same payment. */
  readonly idempotencyKey: string;
  /** Minor units of `currency`. */
  readonly amount: bigint;
  readonly currency: string;
  /** The provider's name of the payment method. */
  readonly token: string | null;
}

export interface RefundRequest {
  /** Derived from the refund's id: the same for every attempt at the same refund. */
  readonly idempotencyKey: string;
  /** The provider's own name for the charge. */
  readonly chargeReference: string;
  readonly amount: bigint;
  readonly currency: string;
}

/**
 * Gateway that moves money. A call may take long, fail, or move the money without an answer. The same key must never move
 * money twice. An exception counts as `unknown`.
 */
export interface PaymentProvider {
  readonly name: ProviderName;
  /** Returns true if the provider can charge this method. Checked before anything is stored. */
  accepts(token: string | null): boolean;
  charge(request: ChargeRequest): Promise<ProviderOutcome>;
  refund(request: RefundRequest): Promise<ProviderOutcome>;
  /** Returns the outcome of the request with this key, or null if the provider never received it. */
  retrieve(idempotencyKey: string): Promise<ProviderOutcome | null>;
}
