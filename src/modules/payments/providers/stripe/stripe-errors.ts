import {
  AMOUNT_NOT_CHARGEABLE_CODE,
  type FailedOutcome,
  type FailureRetry,
  METHOD_UNUSABLE,
  type NotSentOutcome,
  type ProviderOutcome,
} from '../../domain/payment-provider';

/** Codes of a decline, from the error of a failed request or from the last error of a Stripe intent. */
export interface Decline {
  readonly code: string | null;
  readonly declineCode: string | null;
  readonly adviceCode: string | null;
}

export function declineOf(error: {
  readonly code?: string;
  readonly decline_code?: string;
  readonly advice_code?: string;
}): Decline {
  const { code = null, decline_code: declineCode = null, advice_code: adviceCode = null } = error;
  return { code, declineCode, adviceCode };
}

/** Fields of a failed request that determine the outcome. */
export interface StripeFailure extends Decline {
  /** HTTP status; null: no answer. */
  readonly status: number | null;
  /** Stripe's error type, such as `card_error`. */
  readonly type: string | null;
  readonly parameter: string | null;
  /** Stripe's `message_code`, which some errors have in place of a `code`. */
  readonly messageCode: string | null;
  /**
   * Network error code, such as `ECONNREFUSED`, if no connection was established. Null if the request may have arrived.
   */
  readonly notConnected: string | null;
}

type DeclineMeaning = readonly [failureCode: string, retry: FailureRetry];

const INSUFFICIENT: DeclineMeaning = ['insufficient_funds', 'soft'];
const DECLINED: DeclineMeaning = ['declined', 'soft'];
const REFUSED: DeclineMeaning = ['declined', 'hard'];
const UNUSABLE: DeclineMeaning = ['method_unusable', 'hard'];
const NEEDS_CUSTOMER: DeclineMeaning = ['authentication_required', 'customer'];

/** Meaning of each decline code or error code of Stripe. Source: docs.stripe.com/declines/codes. */
const DECLINES: Readonly<Record<string, DeclineMeaning>> = {
  insufficient_funds: INSUFFICIENT,
  card_velocity_exceeded: INSUFFICIENT,
  withdrawal_count_limit_exceeded: INSUFFICIENT,
  do_not_honor: DECLINED,
  generic_decline: DECLINED,
  try_again_later: DECLINED,
  processing_error: DECLINED,
  issuer_not_available: DECLINED,
  expired_card: UNUSABLE,
  incorrect_number: UNUSABLE,
  incorrect_cvc: UNUSABLE,
  incorrect_zip: UNUSABLE,
  invalid_account: UNUSABLE,
  card_not_supported: UNUSABLE,
  bank_account_unusable: UNUSABLE,
  lost_card: REFUSED,
  stolen_card: REFUSED,
  pickup_card: REFUSED,
  fraudulent: REFUSED,
  revocation_of_authorization: REFUSED,
  revocation_of_all_authorizations: REFUSED,
  authentication_required: NEEDS_CUSTOMER,
  payment_intent_authentication_failure: NEEDS_CUSTOMER,
};

/** Advice codes of the issuer that forbid another attempt with the same data. */
const FINAL_ADVICE: ReadonlySet<string> = new Set(['do_not_try_again', 'confirm_card_data']);

/** Classifies a decline. An unknown code counts as `declined` and `soft`, because a later charge may succeed. */
export function failureOfDecline({ code, declineCode, adviceCode }: Decline): FailedOutcome {
  const known = [declineCode, code].find((one) => one !== null && Object.hasOwn(DECLINES, one));
  const [failureCode, retry] = DECLINES[known ?? 'generic_decline'] ?? DECLINED;
  const isFinal = adviceCode !== null && FINAL_ADVICE.has(adviceCode);
  return { kind: 'failed', failureCode, retry: isFinal ? 'hard' : retry };
}

/** Failure of a request whose amount or currency Stripe cannot charge. The payment method stays usable. */
export const AMOUNT_NOT_CHARGEABLE: FailedOutcome = {
  kind: 'failed',
  failureCode: AMOUNT_NOT_CHARGEABLE_CODE,
  retry: 'hard',
};

const AMOUNT_CODES: ReadonlySet<string> = new Set([
  'amount_too_large',
  'amount_too_small',
  'invalid_charge_amount',
]);

const METHOD_CODES: ReadonlySet<string> = new Set([
  'payment_method_unactivated',
  'payment_method_unexpected_state',
  'payment_method_invalid_parameter',
  'payment_method_currency_mismatch',
  // The customer, or the bank, has withdrawn the mandate of a debit.
  'payment_intent_mandate_invalid',
]);

/**
 * Codes with which Stripe refuses a request because of wrong settings. Stripe would then refuse all other charges and
 * refunds too.
 */
const SETTINGS_CODES: ReadonlySet<string> = new Set([
  'api_key_expired',
  'livemode_mismatch',
  'parameter_unknown',
  'platform_api_key_expired',
  'secret_key_required',
  'testmode_charges_only',
  'tls_version_unsupported',
]);

const BUSY_CODES: ReadonlySet<string> = new Set([
  'lock_timeout',
  'payment_intent_rate_limit_exceeded',
  'rate_limit',
]);

/**
 * Returns true if the object does not exist at Stripe. A 404 without the code `resource_missing` comes from a proxy, or
 * from a wrong URL.
 */
export function isMissing({ status, code }: StripeFailure): boolean {
  return status === 404 && code === 'resource_missing';
}

const UNKNOWN: ProviderOutcome = { kind: 'unknown' };
export const NOT_SENT: NotSentOutcome = { kind: 'not_sent' };

/**
 * Returns the outcome of a failed request:
 * - `failed`: the request had no effect, and Stripe would refuse it again
 * - `not_sent`: the request had no effect, but the same request may succeed later
 * - `unknown`: the request may have had an effect, which a later poll reads
 */
export function outcomeOfFailure(failure: StripeFailure): ProviderOutcome {
  const { status, code, notConnected } = failure;
  if (notConnected !== null) return NOT_SENT;
  if (status === null || status >= 500) return UNKNOWN;
  if (status === 429 || (code !== null && BUSY_CODES.has(code))) return NOT_SENT;
  if (status === 409 || code === 'payment_intent_unexpected_state') return UNKNOWN;
  if (status === 402 || failure.type === 'card_error') return failureOfDecline(failure);
  if (status === 400 || status === 404) return refusalOf(failure);
  return NOT_SENT;
}

function refusalOf(failure: StripeFailure): FailedOutcome | NotSentOutcome {
  const { code, parameter } = failure;
  if (code !== null && AMOUNT_CODES.has(code)) return AMOUNT_NOT_CHARGEABLE;
  if (parameter === 'currency') return AMOUNT_NOT_CHARGEABLE;
  if (code !== null && METHOD_CODES.has(code)) return METHOD_UNUSABLE;
  const isMissing = code === 'resource_missing';
  // Stripe sends no code if the method was detached, or belongs to another customer.
  if (parameter === 'payment_method' && (isMissing || code === null)) return METHOD_UNUSABLE;
  if (parameter === 'customer' && isMissing) return METHOD_UNUSABLE;
  // The method was attached without a mandate, which a debit needs.
  if (parameter === 'mandate_data') return METHOD_UNUSABLE;
  return isPermanent(failure) ? failureOfDecline(failure) : NOT_SENT;
}

/**
 * Returns true if Stripe refused the request because of its content. Other causes of a refusal are a proxy, wrong
 * settings, and the API key of an account that does not have the object.
 */
function isPermanent({ status, type, code }: StripeFailure): boolean {
  if (status !== 400 || type !== 'invalid_request_error') return false;
  return code !== 'resource_missing' && (code === null || !SETTINGS_CODES.has(code));
}

/** Codes with which Stripe refuses a refund until the balance of the Stripe account is topped up. */
const BALANCE_CODES: ReadonlySet<string> = new Set([
  'balance_insufficient',
  'insufficient_balance_for_refund',
  'insufficient_funds',
]);

/** Outcome of a refund that Stripe refused permanently, or that failed after Stripe had accepted it. */
export const REFUND_DECLINED: FailedOutcome = {
  kind: 'failed',
  failureCode: 'refund_declined',
  retry: 'hard',
};

/**
 * Returns `not_sent` if the balance of the Stripe account is too low. Otherwise returns the result of
 * {@link outcomeOfFailure}, with {@link REFUND_DECLINED} in place of any failure.
 */
export function outcomeOfRefundFailure(failure: StripeFailure): ProviderOutcome {
  const balanceCode = failure.code ?? failure.messageCode;
  if (balanceCode !== null && BALANCE_CODES.has(balanceCode)) return NOT_SENT;
  const outcome = outcomeOfFailure(failure);
  return outcome.kind === 'failed' ? REFUND_DECLINED : outcome;
}
