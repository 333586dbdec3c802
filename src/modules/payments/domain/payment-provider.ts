/** Providers that are built in. */
export const PROVIDER_NAMES = ['sandbox', 'manual'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** What a provider says of a charge or a refund. */
export type ProviderOutcome =
  /** The money has moved. */
  | { readonly kind: 'succeeded'; readonly reference: string }
  /** It has not, and will not. */
  | { readonly kind: 'failed'; readonly failureCode: string }
  /** The provider has taken the request and will know later. */
  | { readonly kind: 'pending'; readonly reference: string }
  /** Nobody knows: the call ended without an answer, and the money may or may not have moved. */
  | { readonly kind: 'unknown' };

export interface ChargeRequest {
  /** Derived from the payment's id, never the client's key: the same for every attempt at the same payment. */
  readonly idempotencyKey: string;
  /** Minor units of `currency`. */
  readonly amount: bigint;
  readonly currency: string;
  /** What to charge, as the provider names it. */
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
 * Whoever moves the money. A call may take long, fail, or move the money and fail to say so; the same key must never
 * move it twice. What it throws counts as `unknown`.
 */
export interface PaymentProvider {
  readonly name: ProviderName;
  /** Whether the provider can charge this: checked before anything is written. */
  accepts(token: string | null): boolean;
  charge(request: ChargeRequest): Promise<ProviderOutcome>;
  refund(request: RefundRequest): Promise<ProviderOutcome>;
  /** What became of the request with this key; null when the provider never got it. */
  retrieve(idempotencyKey: string): Promise<ProviderOutcome | null>;
}
