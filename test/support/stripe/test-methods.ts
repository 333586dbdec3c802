/** A refusal by the bank. `decline_code` and `advice_code` are absent where Stripe documents none. */
export interface Decline {
  readonly code: string;
  readonly decline_code?: string;
  readonly advice_code?: 'confirm_card_data' | 'do_not_try_again' | 'try_again_later';
  readonly message: string;
}

/** How the bank treats a payment method. A test can change it with `StripeDouble.setBank`. */
export interface BankBehaviour {
  /**
   * If given, the bank refuses to save the method for a customer, as for the test cards of Stripe that are always
   * declined.
   */
  readonly attach?: Decline;
  readonly charge: 'approved' | Decline;
  /**
   * When the customer must authenticate. `until_set_up`: in each payment, until a setup intent or a payment with
   * `setup_future_usage` has saved the method. `on_session`: only while the customer is present.
   */
  readonly authentication: 'never' | 'always' | 'until_set_up' | 'on_session';
  readonly dispute?: 'fraudulent' | 'product_not_received' | 'inquiry' | 'bank_return';
  readonly refund: 'succeeds' | 'pending' | 'fails_later';
  /** Time until a bank debit settles. */
  readonly debitDelayMs: number;
}

const DO_NOT_TRY_AGAIN = new Set([
  'lost_card',
  'stolen_card',
  'pickup_card',
  'fraudulent',
  'revocation_of_authorization',
  'revocation_of_all_authorizations',
]);

/** Returns a decline with a `decline_code`. Most declines of banks have one. */
export function declined(declineCode: string): Decline {
  return {
    code: 'card_declined',
    decline_code: declineCode,
    advice_code: DO_NOT_TRY_AGAIN.has(declineCode) ? 'do_not_try_again' : 'try_again_later',
    message:
      declineCode === 'insufficient_funds'
        ? 'Your card has insufficient funds.'
        : 'Your card was declined.',
  };
}

/**
 * Returns a decline without a `decline_code`: the `code` says that card data is wrong or outdated, or that the network
 * failed.
 */
function failedCard(code: string, message: string): Decline {
  return {
    code,
    advice_code: code === 'processing_error' ? 'try_again_later' : 'confirm_card_data',
    message,
  };
}

const APPROVED: BankBehaviour = {
  charge: 'approved',
  authentication: 'never',
  refund: 'succeeds',
  debitDelayMs: 0,
};

const cannotBeSaved = (decline: Decline): BankBehaviour => ({
  ...APPROVED,
  attach: decline,
  charge: decline,
});

export interface TestCard {
  readonly brand: 'visa' | 'mastercard' | 'amex';
  readonly last4: string;
  readonly behaviour: BankBehaviour;
}

const visa = (last4: string, behaviour: Partial<BankBehaviour> = {}): TestCard => ({
  brand: 'visa',
  last4,
  behaviour: { ...APPROVED, ...behaviour },
});

const GENERIC = visa('0002', cannotBeSaved(declined('generic_decline')));
const INSUFFICIENT = visa('9995', cannotBeSaved(declined('insufficient_funds')));
const LOST = visa('9987', cannotBeSaved(declined('lost_card')));
const STOLEN = visa('9979', cannotBeSaved(declined('stolen_card')));

/** Stripe's test cards by token (docs.stripe.com/testing). */
export const TEST_CARDS: Readonly<Record<string, TestCard>> = {
  pm_card_visa: visa('4242'),
  pm_card_visa_debit: visa('5556'),
  pm_card_mastercard: { ...visa('4444'), brand: 'mastercard' },
  pm_card_amex: { ...visa('8431'), brand: 'amex' },
  pm_card_bypassPending: visa('0077'),
  pm_card_chargeDeclined: GENERIC,
  pm_card_visa_chargeDeclined: GENERIC,
  pm_card_chargeDeclinedInsufficientFunds: INSUFFICIENT,
  pm_card_visa_chargeDeclinedInsufficientFunds: INSUFFICIENT,
  pm_card_chargeDeclinedLostCard: LOST,
  pm_card_visa_chargeDeclinedLostCard: LOST,
  pm_card_chargeDeclinedStolenCard: STOLEN,
  pm_card_visa_chargeDeclinedStolenCard: STOLEN,
  pm_card_visa_chargeDeclinedVelocityLimitExceeded: visa(
    '6975',
    cannotBeSaved(declined('card_velocity_exceeded')),
  ),
  pm_card_chargeDeclinedExpiredCard: visa(
    '0069',
    cannotBeSaved(failedCard('expired_card', 'Your card has expired.')),
  ),
  pm_card_chargeDeclinedIncorrectCvc: visa(
    '0127',
    cannotBeSaved(failedCard('incorrect_cvc', "Your card's security code is incorrect.")),
  ),
  pm_card_chargeDeclinedProcessingError: visa(
    '0119',
    cannotBeSaved(failedCard('processing_error', 'An error occurred while processing your card.')),
  ),
  pm_card_chargeCustomerFail: visa('0341', { charge: declined('generic_decline') }),
  pm_card_authenticationRequired: visa('3184', { authentication: 'always' }),
  pm_card_threeDSecure2Required: visa('3220', { authentication: 'always' }),
  pm_card_authenticationRequiredOnSetup: visa('3155', { authentication: 'until_set_up' }),
  pm_card_authenticationRequiredSetupForOffSession: visa('0446', { authentication: 'on_session' }),
  pm_card_authenticationRequiredChargeDeclinedInsufficientFunds: visa('3178', {
    authentication: 'always',
    charge: declined('insufficient_funds'),
  }),
  pm_card_createDispute: visa('0259', { dispute: 'fraudulent' }),
  pm_card_createDisputeProductNotReceived: visa('2685', { dispute: 'product_not_received' }),
  pm_card_createDisputeInquiry: visa('1976', { dispute: 'inquiry' }),
  pm_card_pendingRefund: visa('7726', { refund: 'pending' }),
  pm_card_refundFail: visa('5126', { refund: 'fails_later' }),
};

export const DEBIT_DELAY_MS = 3 * 60_000;

const debit = (behaviour: Partial<BankBehaviour>): BankBehaviour => ({
  ...APPROVED,
  refund: 'pending',
  ...behaviour,
});

const NOT_AUTHORIZED: Decline = {
  code: 'debit_not_authorized',
  message: 'The payment was not authorized by the account holder.',
};

interface TestAccount {
  readonly iban: string;
  readonly behaviour: BankBehaviour;
}

/** Stripe's test accounts for SEPA debits by their token (docs.stripe.com/payments/sepa-debit). */
export const TEST_ACCOUNTS: Readonly<Record<string, TestAccount>> = {
  pm_success_de: { iban: 'DE89370400440532013000', behaviour: debit({}) },
  pm_successDelayed_de: {
    iban: 'DE08370400440532013003',
    behaviour: debit({ debitDelayMs: DEBIT_DELAY_MS }),
  },
  pm_failed_de: { iban: 'DE62370400440532013001', behaviour: debit({ charge: NOT_AUTHORIZED }) },
  pm_failedDelayed_de: {
    iban: 'DE78370400440532013004',
    behaviour: debit({ charge: NOT_AUTHORIZED, debitDelayMs: DEBIT_DELAY_MS }),
  },
  pm_disputed_de: { iban: 'DE35370400440532013002', behaviour: debit({ dispute: 'bank_return' }) },
};
