import type Stripe from 'stripe';
import type {
  CustomerMissing,
  MethodDetails,
  NotSentOutcome,
  ProviderOutcome,
  ProviderSetupState,
} from '../../domain/payment-provider';
import {
  declineOf,
  failureOfDecline,
  NOT_SENT,
  outcomeOfFailure,
  type StripeFailure,
} from './stripe-errors';

export function detailsOf({
  card,
  sepa_debit: sepa,
  us_bank_account: account,
}: Stripe.PaymentMethod): MethodDetails {
  return {
    brand: card?.brand ?? null,
    last4: card?.last4 ?? sepa?.last4 ?? account?.last4 ?? null,
    expiryMonth: card?.exp_month ?? null,
    expiryYear: card?.exp_year ?? null,
  };
}

/** Returns true if a request failed because Stripe does not have the customer. The status is then 400 or 404. */
export function isCustomerMissing({ code, parameter }: StripeFailure): boolean {
  return code === 'resource_missing' && parameter === 'customer';
}

/**
 * Returns the outcome of a request whose customer does not exist at Stripe: `customer_missing` if the customer was
 * deleted there, otherwise `not_sent`. In the second case, the API key may belong to another account, and the customer
 * must not be created again.
 * @param seen the customer as Stripe returns it; null: this account has never had the customer, or Stripe did not
 *   answer
 */
export function missingCustomer(
  seen: Stripe.Customer | Stripe.DeletedCustomer | null,
): CustomerMissing | NotSentOutcome {
  return seen?.deleted === true ? { kind: 'customer_missing' } : NOT_SENT;
}

/**
 * Returns the outcome of a charge whose customer or payment method does not exist at Stripe. Returns `not_sent` if the
 * API key may belong to another account, which would have neither the customer nor the method.
 * @param seen the customer as Stripe returns it; null: this account has never had the customer, or Stripe did not
 *   answer
 */
export function outcomeOfMissing(
  failure: StripeFailure,
  seen: Stripe.Customer | Stripe.DeletedCustomer | null,
): ProviderOutcome {
  const isCertain = isCustomerMissing(failure) ? seen?.deleted === true : seen !== null;
  return isCertain ? outcomeOfFailure(failure) : NOT_SENT;
}

/** Returns the state of a setup intent. The payment method of the intent must be expanded. */
export function stateOfSetup({
  status,
  payment_method: method,
  last_setup_error: error,
}: Pick<Stripe.SetupIntent, 'status' | 'payment_method' | 'last_setup_error'>): ProviderSetupState {
  switch (status) {
    case 'succeeded':
      if (method === null) return { kind: 'missing' };
      if (typeof method === 'string') return { kind: 'unknown' };
      return { kind: 'set_up', token: method.id, details: detailsOf(method) };
    case 'canceled':
      return { kind: 'canceled' };
    case 'processing':
    case 'requires_action':
    case 'requires_confirmation':
    case 'requires_payment_method':
      return {
        kind: 'waiting',
        failureCode: error === null ? null : failureOfDecline(declineOf(error)).failureCode,
      };
    default:
      return { kind: 'unknown' };
  }
}
