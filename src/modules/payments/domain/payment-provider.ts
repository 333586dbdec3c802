import type { ReportedDispute } from './reported-dispute';

/** Providers that are built in. */
export const PROVIDER_NAMES = ['sandbox', 'manual', 'stripe'] as const;
export type ProviderName = (typeof PROVIDER_NAMES)[number];

/**
 * Effect of a failure on later charges of the same payment method. `soft`: may succeed later. `hard`: does not succeed until the
 * method or the amount changes. `customer`: the customer has to authenticate the charge.
 */
export type FailureRetry = 'soft' | 'hard' | 'customer';

/** A charge or refund that did not move money and will not. */
export interface FailedOutcome {
  readonly kind: 'failed';
  readonly failureCode: string;
  readonly retry: FailureRetry;
}

/** Failure code of an amount or currency that the provider cannot charge, whatever the payment method. */
export const AMOUNT_NOT_CHARGEABLE_CODE = 'amount_not_chargeable';

/** Failure of a charge that was not sent, because the payment method is unusable. */
export const METHOD_UNUSABLE: FailedOutcome = {
  kind: 'failed',
  failureCode: 'method_unusable',
  retry: 'hard',
};

/** The provider certainly did not execute the request. `misconfigured` needs an operator. */
export interface NotSentOutcome {
  readonly kind: 'not_sent';
  readonly cause: 'busy' | 'unreachable' | 'misconfigured';
}

/** The call ended without an answer. The money may or may not have moved. */
export interface UnknownOutcome {
  readonly kind: 'unknown';
}

/** Outcome of a charge or a refund, as the provider reports it. */
export type ProviderOutcome =
  /** The money has moved. */
  | { readonly kind: 'succeeded'; readonly reference: string }
  | FailedOutcome
  /** The provider has accepted the request; the outcome is not known yet. */
  | { readonly kind: 'pending'; readonly reference: string }
  /** The customer has to confirm the charge, e.g. by 3-D Secure. */
  | { readonly kind: 'requires_action'; readonly reference: string }
  /** Canceled before any money moved. */
  | { readonly kind: 'canceled'; readonly reference: string }
  | NotSentOutcome
  | UnknownOutcome;

/**
 * Returns the failure code if the outcome makes the payment method unusable, otherwise null. A `hard` failure does so, unless
 * only the amount could not be charged.
 */
export function finalDeclineOf(outcome: ProviderOutcome): string | null {
  if (outcome.kind !== 'failed' || outcome.retry !== 'hard') return null;
  return outcome.failureCode === AMOUNT_NOT_CHARGEABLE_CODE ? null : outcome.failureCode;
}

/** Returns false if the request was not sent, or its outcome is unknown. */
export function isAnswer({ kind }: ProviderOutcome): boolean {
  return kind !== 'unknown' && kind !== 'not_sent';
}

export interface ChargeRequest {
  /** The same for every repetition of the same request. */
  readonly idempotencyKey: string;
  readonly paymentId: string;
  readonly customerId: string;
  readonly invoiceId: string | null;
  /** Minor units of `currency`. */
  readonly amount: bigint;
  readonly currency: string;
  /** The provider's id of the payment method. */
  readonly token: string | null;
  /** `on` if the customer is present and can confirm the charge, `off` if the service collects automatically. */
  readonly session: 'on' | 'off';
}

export interface ProviderRefundRequest {
  /** The same for every repetition of the same request. */
  readonly idempotencyKey: string;
  readonly refundId: string;
  /** The provider's id of the charge. */
  readonly chargeReference: string;
  readonly amount: bigint;
  readonly currency: string;
}

interface ProviderBase {
  readonly name: ProviderName;
  /** Returns true if a request may name this token without keeping it as a payment method first. */
  accepts(token: string | null): boolean;
  refund(request: ProviderRefundRequest): Promise<ProviderOutcome>;
}

/**
 * A provider that charges with one request and stores idempotency keys for ever: repeating a request returns its outcome. The
 * same key must never move money twice.
 */
export interface DirectProvider extends ProviderBase {
  readonly flow: 'direct';
  charge(request: ChargeRequest): Promise<ProviderOutcome>;
}

/** A charge that was prepared. Its money cannot move before the charge is confirmed. */
export interface PreparedCharge {
  readonly kind: 'prepared';
  readonly reference: string;
}

/** Payment method as the provider describes it. */
export interface MethodDetails {
  readonly brand: string | null;
  readonly last4: string | null;
  readonly expiryMonth: number | null;
  readonly expiryYear: number | null;
}

/** Result of attaching a payment method at a provider. */
export type AttachOutcome =
  | {
      readonly kind: 'attached';
      /** The provider's id of the method, which may differ from the token. */
      readonly token: string;
      readonly details: MethodDetails;
    }
  /** The provider does not know the token, or may not use it for this customer. */
  | { readonly kind: 'refused' }
  | NotSentOutcome
  | { readonly kind: 'unknown' };

/** Result of detaching a payment method at a provider. */
export type DetachOutcome = { readonly kind: 'detached' } | NotSentOutcome | UnknownOutcome;

/** Request to start the setup of a payment method at a provider. */
export interface SetupRequest {
  readonly setupId: string;
  readonly customerId: string;
  /** The provider's id of the customer. */
  readonly customerReference: string;
}

/** State of a setup at its provider. */
export type ProviderSetupState =
  /** The customer set up a payment method, which is attached to the customer. */
  | { readonly kind: 'set_up'; readonly token: string; readonly details: MethodDetails }
  /** Waits for the customer. */
  | {
      readonly kind: 'waiting';
      /** Failure code of the last attempt; null: none failed. */
      readonly failureCode: string | null;
    }
  | { readonly kind: 'canceled' }
  /** The customer set up a payment method that cannot be kept. */
  | { readonly kind: 'refused'; readonly failureCode: string }
  | UnknownOutcome;

/** Data for the customer's browser to confirm a charge. Fetched for each request and never stored. */
export interface ClientAction {
  readonly clientSecret: string;
}

/** A refund that a provider lists for a charge. */
export interface ListedRefund {
  /** The provider's id of the refund. */
  readonly reference: string;
  /** Minor units of the charge's currency. */
  readonly amount: bigint;
  readonly outcome: ProviderOutcome;
  /** Our id of the refund; null for a refund that was made at the provider. */
  readonly refundId: string | null;
}

/** A dispute as its provider shows it. */
export type ProviderDisputeState =
  | {
      readonly kind: 'dispute';
      /** Our id of the disputed payment. */
      readonly paymentId: string;
      readonly chargeReference: string;
      readonly reported: ReportedDispute;
    }
  /** The dispute is about a payment of another service, or the provider does not know it. */
  | { readonly kind: 'not_ours' }
  | UnknownOutcome;

/** A charge whose payment is missing in this database, as the provider and the metadata of the charge describe it. */
export interface UnrecordedCharge {
  /** The provider's id of the charge. */
  readonly reference: string;
  /** Our ids of the payment, its customer and its invoice. */
  readonly paymentId: string;
  readonly customerId: string;
  readonly invoiceId: string | null;
  /** Minor units of `currency`. */
  readonly amount: bigint;
  readonly currency: string;
  /** The provider's id of the payment method. */
  readonly token: string | null;
  readonly createdAt: Date;
  readonly outcome: { readonly kind: 'succeeded' | 'pending'; readonly reference: string };
}

export type UnrecordedChargeState =
  | { readonly kind: 'charge'; readonly charge: UnrecordedCharge }
  /** The charge has not moved money and is not being processed. */
  | { readonly kind: 'unpaid' }
  | { readonly kind: 'not_ours' }
  | UnknownOutcome;

/** A refund unknown to this database: made at the provider, or missing in a restored backup. */
export interface UnrecordedRefund {
  /** The provider's id of the refund. */
  readonly reference: string;
  /** Our id; null for a refund that was made at the provider. */
  readonly refundId: string | null;
  /** Minor units of the payment's currency. */
  readonly amount: bigint;
  readonly reason: string | null;
  readonly outcome: ProviderOutcome;
}

/** A refund unknown to this database, as its provider shows it. */
export type UnrecordedRefundState =
  | {
      readonly kind: 'refund';
      /** Our id of the payment. */
      readonly paymentId: string;
      readonly chargeReference: string;
      readonly refund: UnrecordedRefund;
    }
  | { readonly kind: 'not_ours' }
  | UnknownOutcome;

/** Search for the charge of a payment. */
export interface ChargeQuery {
  readonly paymentId: string;
  /** The provider's id of the customer. */
  readonly customerReference: string;
  /** Real time of the first request with the payment's present `providerAttempt`. */
  readonly sentAt: Date;
}

/**
 * A provider that charges in two steps: the charge is prepared and its reference committed, then the charge is confirmed. A
 * prepared charge succeeds at most once, so the committed reference prevents a second charge even after the idempotency key has
 * expired. If a method throws, its outcome counts as `unknown`.
 */
export interface PreparingProvider extends ProviderBase {
  readonly flow: 'prepared';
  /** Time in milliseconds for which a repeated key returns the first answer. */
  readonly replayMs: number;
  /** True if the provider may charge customers on test clocks; false where money is real. */
  readonly chargesTestClocks: boolean;
  /** Returns true for text that has the form of a payment method's token. */
  isMethodToken(token: string): boolean;
  /** Returns the provider's id of a new customer, or null if it did not answer. */
  createCustomer(customerId: string): Promise<string | null>;
  attach(token: string, customerReference: string): Promise<AttachOutcome>;
  /** Detaches a method from its customer for good. Repeating it has no further effect. */
  detach(token: string): Promise<DetachOutcome>;
  /** Begins a setup. Returns the provider's id of the setup, or null if the provider did not answer. */
  beginSetup(request: SetupRequest): Promise<string | null>;
  retrieveSetup(reference: string): Promise<ProviderSetupState>;
  /** Cancels a setup. Returns its state, which may be a success. */
  cancelSetup(reference: string): Promise<ProviderSetupState>;
  /** Returns null if the setup does not wait for the customer. Throws if the provider does not answer. */
  setupAction(reference: string): Promise<ClientAction | null>;
  prepare(
    request: ChargeRequest,
    customerReference: string,
  ): Promise<PreparedCharge | ProviderOutcome>;
  confirm(reference: string, request: ChargeRequest): Promise<ProviderOutcome>;
  /** Cancels a charge. Returns its outcome, which may be a success. */
  cancel(reference: string): Promise<ProviderOutcome>;
  /** Returns the state of a charge; `prepared` if it was not confirmed. */
  retrieve(reference: string): Promise<PreparedCharge | ProviderOutcome>;
  /** Finds the charge of a payment whose reference was not stored. Returns the reference, or null if there is no such charge. */
  find(query: ChargeQuery): Promise<string | null>;
  retrieveRefund(reference: string): Promise<ProviderOutcome>;
  listRefunds(chargeReference: string): Promise<readonly ListedRefund[]>;
  /** Reads a charge whose payment is not in this database. */
  retrieveUnrecordedCharge(reference: string): Promise<UnrecordedChargeState>;
  retrieveUnrecordedRefund(reference: string): Promise<UnrecordedRefundState>;
  retrieveDispute(reference: string): Promise<ProviderDisputeState>;
  /** Returns null if the customer need not act. Throws if the provider does not answer. */
  clientAction(reference: string): Promise<ClientAction | null>;
}

/** Payment gateway that charges and refunds. */
export type PaymentProvider = DirectProvider | PreparingProvider;
