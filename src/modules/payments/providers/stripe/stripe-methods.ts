import type Stripe from 'stripe';
import type { MethodDetails, ProviderSetupState } from '../../domain/payment-provider';
import { failureOfDecline, type StripeFailure } from './stripe-errors';

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

/** Returns true if Stripe does not have the customer of a request. Stripe answers with status 400 or 404. */
export function isCustomerMissing({ code, parameter }: StripeFailure): boolean {
  return code === 'resource_missing' && parameter === 'customer';
}

/** The payment method of the setup intent must be expanded. */
export function stateOfSetup({
  status,
  payment_method: method,
  last_setup_error: error,
}: Pick<Stripe.SetupIntent, 'status' | 'payment_method' | 'last_setup_error'>): ProviderSetupState {
  switch (status) {
    case 'succeeded':
      if (method === null || typeof method === 'string') return { kind: 'unknown' };
      return { kind: 'set_up', token: method.id, details: detailsOf(method) };
    case 'canceled':
      return { kind: 'canceled' };
    case 'processing':
    case 'requires_action':
    case 'requires_confirmation':
    case 'requires_payment_method':
      return { kind: 'waiting', failureCode: error === null ? null : failureCodeOf(error) };
    default:
      return { kind: 'unknown' };
  }
}

function failureCodeOf(error: Stripe.SetupIntent.LastSetupError): string {
  const { failureCode } = failureOfDecline({
    code: error.code ?? null,
    declineCode: error.decline_code ?? null,
    adviceCode: error.advice_code ?? null,
  });
  return failureCode;
}
