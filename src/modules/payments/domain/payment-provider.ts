import type { ReportedDispute } from './reported-dispute';

export const PROVIDER_NAMES = ['sandbox', 'manual', 'stripe'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/**
 * Effect of a failure on later charges of the same payment method. `soft`: a later charge may succeed. `hard`: no
 * charge succeeds until the method or the amount changes. `customer`: the customer has to authenticate the charge.
 */
export type FailureRetry = 'soft' | 'hard' | 'customer';

/** A charge or refund that has not moved money and will not move any. */
export interface FailedOutcome extends EndWithoutCharge {
  readonly kind: 'failed';
  readonly failureCode: string;
  readonly retry: FailureRetry;
}

interface EndWithoutCharge {
  /**
   * Present if the payment ends because it has no charge at the provider. The outcome is applied only while the payment
   * has no stored reference of a charge. Otherwise another process has prepared a charge meanwhile, and confirms it.
   */
  readonly hasNoCharge?: true;
}

/** Failure code for an amount or currency that the provider cannot charge with any payment method. */
export const AMOUNT_NOT_CHARGEABLE_CODE = 'amount_not_chargeable';

export const METHOD_UNUSABLE: FailedOutcome = {
  kind: 'failed',
  failureCode: 'method_unusable',
  retry: 'hard',
};

/**
 * Outcome of a request that the provider certainly did not execute, for example because the provider was busy or out of
 * reach, or because a setting is wrong. The same request may succeed later.
 */
export interface NotSentOutcome {
  readonly kind: 'not_sent';
}

/**
 * Maximum number of calls without a final outcome. After more calls, polls no longer repeat the request with the same
 * idempotency key.
 */
export const MAX_REPLAYS = 2;

/** Outcome of a call that ended without an answer. The money may or may not have moved. */
export interface UnknownOutcome {
  readonly kind: 'unknown';
}

/** The provider account of our API key does not have the object. */
export interface MissingObject {
  readonly kind: 'missing';
}

/** Outcome of a charge or a refund. `reference` is the provider's id of the charge or refund. */
export type ProviderOutcome =
  /** The money has moved. */
  | { readonly kind: 'succeeded'; readonly reference: string }
  | FailedOutcome
  /** The provider has accepted the request; the outcome is not known yet. */
  | { readonly kind: 'pending'; readonly reference: string }
  /** The customer has to confirm the charge, e.g. by 3-D Secure. */
  | { readonly kind: 'requires_action'; readonly reference: string }
  /** Canceled before any money moved. If `reference` is absent, the stored reference of the payment does not change. */
  | ({ readonly kind: 'canceled'; readonly reference?: string } & EndWithoutCharge)
  | NotSentOutcome
  | UnknownOutcome;

/** Marks a failed or canceled outcome with `hasNoCharge`. To be used only if no charge exists at the provider. */
export function withoutCharge(outcome: ProviderOutcome): ProviderOutcome {
  const isEnd = outcome.kind === 'failed' || outcome.kind === 'canceled';
  return isEnd ? { ...outcome, hasNoCharge: true } : outcome;
}

/**
 * Returns the failure code if the outcome makes the payment method unusable: a `hard` failure, unless its code is
 * `amount_not_chargeable`. Otherwise returns null.
 */
export function finalDeclineOf(outcome: ProviderOutcome): string | null {
  if (outcome.kind !== 'failed' || outcome.retry !== 'hard') return null;
  return outcome.failureCode === AMOUNT_NOT_CHARGEABLE_CODE ? null : outcome.failureCode;
}

export function isAnswer({ kind }: ProviderOutcome): boolean {
  return kind !== 'unknown' && kind !== 'not_sent';
}

export interface ChargeRequest {
  readonly idempotencyKey: string;
  readonly paymentId: string;
  readonly customerId: string;
  readonly invoiceId: string | null;
  /** Minor units of `currency`. */
  readonly amount: bigint;
  readonly currency: string;
  /** The provider's id of the payment method; null: none. */
  readonly token: string | null;
  /** `on` if the customer is present and can confirm the charge, `off` if the service collects automatically. */
  readonly session: 'on' | 'off';
}

export interface ProviderRefundRequest {
  readonly idempotencyKey: string;
  readonly refundId: string;
  readonly chargeReference: string;
  readonly amount: bigint;
  readonly currency: string;
}

interface ProviderBase {
  readonly name: ProviderName;
  /**
   * Returns true if a payment can charge this token without a stored payment method. A null token stands for a payment
   * without a method.
   */
  accepts(token: string | null): boolean;
  refund(request: ProviderRefundRequest): Promise<ProviderOutcome>;
}

/**
 * A provider that charges with one request and never forgets idempotency keys. Requests with the same key must move
 * money at most once, and return the same outcome.
 */
export interface DirectProvider extends ProviderBase {
  readonly flow: 'direct';
  charge(request: ChargeRequest): Promise<ProviderOutcome>;
}

/** A prepared charge moves no money before it is confirmed. */
export interface PreparedCharge {
  readonly kind: 'prepared';
  readonly reference: string;
}

export interface MethodDetails {
  readonly brand: string | null;
  readonly last4: string | null;
  readonly expiryMonth: number | null;
  readonly expiryYear: number | null;
}

/** The customer was deleted at the provider. */
export interface CustomerMissing {
  readonly kind: 'customer_missing';
}

export type AttachOutcome =
  | {
      readonly kind: 'attached';
      /** The provider's id of the method. This id may differ from the token that was sent. */
      readonly token: string;
      readonly details: MethodDetails;
    }
  /** The provider does not know the token, or may not use it for this customer. */
  | { readonly kind: 'refused' }
  | CustomerMissing
  | NotSentOutcome
  | UnknownOutcome;

export type DetachOutcome = { readonly kind: 'detached' } | NotSentOutcome | UnknownOutcome;

export interface SetupRequest {
  readonly setupId: string;
  readonly customerId: string;
  readonly customerReference: string;
}

export type BeginSetupOutcome =
  | {
      readonly kind: 'begun';
      readonly reference: string;
    }
  | CustomerMissing
  | NotSentOutcome
  | UnknownOutcome;

export type ProviderSetupState =
  /** The customer set up a payment method, and the provider has attached the method to the customer. */
  | { readonly kind: 'set_up'; readonly token: string; readonly details: MethodDetails }
  /** The customer has not finished the setup. */
  | {
      readonly kind: 'waiting';
      /** Failure code of the customer's last attempt; null if no attempt has failed. */
      readonly failureCode: string | null;
    }
  | { readonly kind: 'canceled' }
  /** The customer set up a payment method that cannot be stored for later charges. */
  | { readonly kind: 'refused'; readonly failureCode: string }
  | MissingObject
  | UnknownOutcome;

/** Data for the customer's browser to confirm a charge or finish a setup. Fetched for each request and never stored. */
export interface ClientAction {
  readonly clientSecret: string;
}

export interface ListedRefund {
  readonly reference: string;
  /** Minor units of the charge's currency. */
  readonly amount: bigint;
  readonly outcome: ProviderOutcome;
  /** Our id of the refund; null for a refund that was made at the provider. */
  readonly refundId: string | null;
}

/** A charge that was refunded or disputed. */
export interface ReportedCharge {
  /** The provider's id of the charge. */
  readonly chargeReference: string;
  /**
   * Our id of the payment, from the metadata of the charge; null: none. Another environment may have made the charge.
   */
  readonly paymentId: string | null;
}

export type ProviderDisputeState =
  | (ReportedCharge & {
      readonly kind: 'dispute';
      readonly reported: ReportedDispute;
    })
  /** The dispute is about a charge that cannot be one of this service. */
  | { readonly kind: 'not_ours' }
  | MissingObject
  | UnknownOutcome;

/** A charge at the provider whose payment is missing in this database. The metadata of the charge contains our ids. */
export interface UnrecordedCharge {
  readonly reference: string;
  /** Our ids of the payment, the customer and the invoice. `invoiceId` is null if the payment has no invoice. */
  readonly paymentId: string;
  readonly customerId: string;
  readonly invoiceId: string | null;
  /** Minor units of `currency`. */
  readonly amount: bigint;
  readonly currency: string;
  /** The provider's id of the payment method; null: none. */
  readonly token: string | null;
  readonly createdAt: Date;
  readonly outcome: { readonly kind: 'succeeded' | 'pending'; readonly reference: string };
}

export type UnrecordedChargeState =
  | { readonly kind: 'charge'; readonly charge: UnrecordedCharge }
  /** The charge has not moved money and is not being processed. */
  | { readonly kind: 'unpaid' }
  | { readonly kind: 'not_ours' }
  | MissingObject
  | UnknownOutcome;

/**
 * A refund that is missing in this database: somebody made the refund at the provider, or the database was restored
 * from a backup without the refund.
 */
export interface UnrecordedRefund {
  readonly reference: string;
  /** Our id of the refund; null if the refund was made at the provider. */
  readonly refundId: string | null;
  /** Minor units of the payment's currency. */
  readonly amount: bigint;
  readonly reason: string | null;
  readonly outcome: ProviderOutcome;
}

export type UnrecordedRefundState =
  | (ReportedCharge & {
      readonly kind: 'refund';
      readonly refund: UnrecordedRefund;
    })
  /** The refund is of a charge that cannot be one of this service. */
  | { readonly kind: 'not_ours' }
  | MissingObject
  | UnknownOutcome;

export interface ChargeQuery {
  readonly paymentId: string;
  /** Minor units of `currency`. */
  readonly amount: bigint;
  readonly currency: string;
  readonly customerReference: string;
  /**
   * Real time of the first request with the current `providerAttempt` of the payment; null: not known. Can be later
   * than the provider's time of the charge, if our clock was ahead.
   */
  readonly sentAt: Date | null;
}

/**
 * A provider that charges in two steps. First the charge is prepared, and its reference is committed to the database.
 * Then the charge is confirmed. A prepared charge succeeds at most once, so the committed reference prevents a second
 * charge even after the idempotency key has expired. If a call throws, the outcome counts as `unknown`.
 */
export interface PreparingProvider extends ProviderBase {
  readonly flow: 'prepared';
  /**
   * Time after the first request, in milliseconds, in which a repetition with the same idempotency key gets the same
   * answer.
   */
  readonly replayMs: number;
  /** True if customers on test clocks may be charged; false if the provider moves real money. */
  readonly chargesTestClocks: boolean;
  /** Returns true if the text has the form of a token of a payment method. */
  isMethodToken(token: string): boolean;
  /** Returns the provider's id of the new customer, or null if the provider did not answer. */
  createCustomer(customerId: string): Promise<string | null>;
  attach(token: string, customerReference: string): Promise<AttachOutcome>;
  /** Detaches a method from its customer permanently. A repeated call has no further effect. */
  detach(token: string): Promise<DetachOutcome>;
  beginSetup(request: SetupRequest): Promise<BeginSetupOutcome>;
  retrieveSetup(reference: string): Promise<ProviderSetupState>;
  /** Cancels a setup. Returns the resulting state, which is `set_up` if the customer finished the setup first. */
  cancelSetup(reference: string): Promise<ProviderSetupState>;
  /**
   * Returns the data with which the customer finishes a setup; null if nothing is left to do. Throws if the provider
   * does not answer.
   */
  setupAction(reference: string): Promise<ClientAction | null>;
  prepare(
    request: ChargeRequest,
    customerReference: string,
  ): Promise<PreparedCharge | ProviderOutcome>;
  confirm(reference: string, request: ChargeRequest): Promise<ProviderOutcome>;
  /** Cancels a charge. Returns `canceled` if no money has moved and none will move, otherwise `unknown`. */
  cancel(reference: string): Promise<ProviderOutcome>;
  /** Returns the state of a charge; `prepared` if the charge has not been confirmed. */
  retrieve(reference: string): Promise<PreparedCharge | ProviderOutcome>;
  /**
   * Searches for the charge of a payment that has no stored reference. Returns the provider's id of the charge, which
   * may have failed or been canceled; null if there is no charge; `not_sent` if the provider does not answer.
   */
  find(query: ChargeQuery): Promise<string | NotSentOutcome | null>;
  retrieveRefund(reference: string): Promise<ProviderOutcome>;
  /** Returns `not_sent` if the provider does not answer. */
  listRefunds(chargeReference: string): Promise<readonly ListedRefund[] | NotSentOutcome>;
  retrieveUnrecordedCharge(reference: string): Promise<UnrecordedChargeState>;
  retrieveUnrecordedRefund(reference: string): Promise<UnrecordedRefundState>;
  retrieveDispute(reference: string): Promise<ProviderDisputeState>;
  /**
   * Returns the data with which the customer confirms a charge; null if there is nothing to confirm. Throws if the
   * provider does not answer.
   */
  clientAction(reference: string): Promise<ClientAction | null>;
}

export type PaymentProvider = DirectProvider | PreparingProvider;
