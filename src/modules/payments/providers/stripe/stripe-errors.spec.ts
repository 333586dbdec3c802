import { outcomeOfFailure, outcomeOfRefundFailure, type StripeFailure } from './stripe-errors';

const NOTHING: StripeFailure = {
  status: null,
  type: null,
  code: null,
  declineCode: null,
  adviceCode: null,
  parameter: null,
  messageCode: null,
  notConnected: null,
};

const declined = (
  declineCode: string,
  adviceCode: string | null = null,
): Partial<StripeFailure> => ({
  status: 402,
  type: 'card_error',
  code: 'card_declined',
  declineCode,
  adviceCode,
});
/** A refusal without a code, such as Stripe's for a charge that is too old to be refunded. */
const REFUSED: Partial<StripeFailure> = { status: 400, type: 'invalid_request_error' };

const failed = (failureCode: string, retry: string) => ({ kind: 'failed', failureCode, retry });
const notSent = { kind: 'not_sent' };
const unknown = { kind: 'unknown' };

describe('a failed request to Stripe', () => {
  it.each<readonly [Partial<StripeFailure>, object]>([
    [declined('insufficient_funds'), failed('insufficient_funds', 'soft')],
    [declined('card_velocity_exceeded'), failed('insufficient_funds', 'soft')],
    [declined('do_not_honor'), failed('declined', 'soft')],
    [declined('never_heard_of'), failed('declined', 'soft')],
    [declined('lost_card'), failed('declined', 'hard')],
    [declined('authentication_required'), failed('authentication_required', 'customer')],
    [declined('do_not_honor', 'do_not_try_again'), failed('declined', 'hard')],
    [declined('insufficient_funds', 'try_again_later'), failed('insufficient_funds', 'soft')],
    [{ status: 402, type: 'card_error', code: 'expired_card' }, failed('method_unusable', 'hard')],
    [{ status: 402, code: 'incorrect_cvc' }, failed('method_unusable', 'hard')],
    [{ status: 400, code: 'amount_too_small' }, failed('amount_not_chargeable', 'hard')],
    [{ status: 400, parameter: 'currency' }, failed('amount_not_chargeable', 'hard')],
    [
      { status: 400, code: 'resource_missing', parameter: 'payment_method' },
      failed('method_unusable', 'hard'),
    ],
    [{ status: 400, parameter: 'payment_method' }, failed('method_unusable', 'hard')],
    [{ status: 400, code: 'payment_intent_mandate_invalid' }, failed('method_unusable', 'hard')],
    [{ status: 400, parameter: 'mandate_data' }, failed('method_unusable', 'hard')],
    [REFUSED, failed('declined', 'soft')],
    [{ ...REFUSED, code: 'parameter_missing' }, failed('declined', 'soft')],
    [{ ...REFUSED, code: 'payment_method_not_available' }, failed('declined', 'soft')],
    [{ ...REFUSED, code: 'payment_method_provider_decline' }, failed('declined', 'soft')],
    [{ ...REFUSED, code: 'debit_not_authorized' }, failed('declined', 'soft')],
    [{ ...REFUSED, code: 'bank_account_unusable' }, failed('method_unusable', 'hard')],
    [
      { ...REFUSED, code: 'payment_intent_authentication_failure' },
      failed('authentication_required', 'customer'),
    ],
    [{ ...REFUSED, code: 'parameter_unknown', parameter: 'payment_method' }, notSent],
    [{ ...REFUSED, code: 'livemode_mismatch' }, notSent],
    [{ ...REFUSED, code: 'resource_missing', parameter: 'payment_intent' }, notSent],
    [{ status: 400 }, notSent],
    [{ status: 404, code: 'resource_missing', parameter: 'intent' }, notSent],
    [{ status: 400, type: 'idempotency_error' }, notSent],
    [{ status: 401 }, notSent],
    [{ status: 403 }, notSent],
    [{ status: 429 }, notSent],
    [{ status: 400, code: 'lock_timeout' }, notSent],
    [{ ...REFUSED, code: 'rate_limit' }, notSent],
    [{ notConnected: 'ECONNREFUSED' }, notSent],
    [{ notConnected: 'ENOTFOUND' }, notSent],
    [{ status: 409, code: 'idempotency_key_in_use' }, unknown],
    [{ status: 400, code: 'payment_intent_unexpected_state' }, unknown],
    [{ status: 500 }, unknown],
    [{ status: 503 }, unknown],
    [{}, unknown],
  ])('of %j is %j', (failure, outcome) => {
    expect(outcomeOfFailure({ ...NOTHING, ...failure })).toEqual(outcome);
  });
});

describe('a failed request to refund at Stripe', () => {
  it.each<readonly [Partial<StripeFailure>, object]>([
    [REFUSED, failed('refund_declined', 'hard')],
    [{ ...REFUSED, parameter: 'amount' }, failed('refund_declined', 'hard')],
    [{ ...REFUSED, code: 'charge_disputed' }, failed('refund_declined', 'hard')],
    [{ ...REFUSED, code: 'charge_expired_for_capture' }, failed('refund_declined', 'hard')],
    [{ ...REFUSED, code: 'balance_insufficient' }, notSent],
    [{ ...REFUSED, messageCode: 'insufficient_balance_for_refund' }, notSent],
    [{ status: 402, code: 'insufficient_funds' }, notSent],
    [{ status: 404, code: 'resource_missing', parameter: 'payment_intent' }, notSent],
    [{ status: 400, type: 'idempotency_error' }, notSent],
    [{ status: 429 }, notSent],
    [{ status: 409, code: 'idempotency_key_in_use' }, unknown],
    [{ status: 500 }, unknown],
  ])('of %j is %j', (failure, outcome) => {
    expect(outcomeOfRefundFailure({ ...NOTHING, ...failure })).toEqual(outcome);
  });
});
