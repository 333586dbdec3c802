import type Stripe from 'stripe';

/**
 * Parameters of an operation that the double implements. The double refuses all others that the SDK knows, and names
 * them.
 */
type Implemented<Params, Names extends keyof Params> = Pick<Params, Names>;

type Page = 'limit' | 'starting_after' | 'ending_before' | 'expand';

/**
 * Request parameters of each operation, in the types of the pinned SDK. `request-schemas.json` is generated from this
 * interface, so the server refuses parameters that these types do not allow.
 */
export interface RequestParameters {
  'customers.create': Implemented<
    Stripe.CustomerCreateParams,
    | 'name'
    | 'email'
    | 'phone'
    | 'description'
    | 'address'
    | 'metadata'
    | 'preferred_locales'
    | 'payment_method'
    | 'invoice_settings'
    | 'expand'
  >;
  'customers.update': Implemented<
    Stripe.CustomerUpdateParams,
    | 'name'
    | 'email'
    | 'phone'
    | 'description'
    | 'address'
    | 'metadata'
    | 'preferred_locales'
    | 'invoice_settings'
    | 'expand'
  >;
  'customers.retrieve': Implemented<Stripe.CustomerRetrieveParams, 'expand'>;
  'customers.del': object;
  'customers.list': Implemented<Stripe.CustomerListParams, Page | 'created' | 'email'>;
  'customers.listPaymentMethods': Implemented<
    Stripe.CustomerListPaymentMethodsParams,
    Page | 'type'
  >;
  'paymentMethods.create': Implemented<
    Stripe.PaymentMethodCreateParams,
    'type' | 'sepa_debit' | 'billing_details' | 'metadata' | 'expand'
  >;
  'paymentMethods.retrieve': Implemented<Stripe.PaymentMethodRetrieveParams, 'expand'>;
  'paymentMethods.list': Implemented<Stripe.PaymentMethodListParams, Page | 'customer' | 'type'>;
  'paymentMethods.attach': Implemented<Stripe.PaymentMethodAttachParams, 'customer' | 'expand'>;
  'paymentMethods.detach': Implemented<Stripe.PaymentMethodDetachParams, 'expand'>;
  'paymentIntents.create': Implemented<
    Stripe.PaymentIntentCreateParams,
    | 'amount'
    | 'currency'
    | 'customer'
    | 'payment_method'
    | 'allowed_payment_method_types'
    | 'automatic_payment_methods'
    | 'capture_method'
    | 'confirm'
    | 'description'
    | 'error_on_requires_action'
    | 'mandate_data'
    | 'metadata'
    | 'off_session'
    | 'receipt_email'
    | 'return_url'
    | 'setup_future_usage'
    | 'statement_descriptor_suffix'
    | 'use_stripe_sdk'
    | 'expand'
  >;
  'paymentIntents.confirm': Implemented<
    Stripe.PaymentIntentConfirmParams,
    | 'payment_method'
    | 'off_session'
    | 'error_on_requires_action'
    | 'mandate_data'
    | 'receipt_email'
    | 'return_url'
    | 'setup_future_usage'
    | 'use_stripe_sdk'
    | 'expand'
  >;
  'paymentIntents.retrieve': Implemented<
    Stripe.PaymentIntentRetrieveParams,
    'client_secret' | 'expand'
  >;
  'paymentIntents.cancel': Implemented<
    Stripe.PaymentIntentCancelParams,
    'cancellation_reason' | 'expand'
  >;
  'paymentIntents.list': Implemented<Stripe.PaymentIntentListParams, Page | 'customer' | 'created'>;
  'setupIntents.create': Implemented<
    Stripe.SetupIntentCreateParams,
    | 'customer'
    | 'payment_method'
    | 'allowed_payment_method_types'
    | 'automatic_payment_methods'
    | 'confirm'
    | 'description'
    | 'mandate_data'
    | 'metadata'
    | 'return_url'
    | 'usage'
    | 'use_stripe_sdk'
    | 'expand'
  >;
  'setupIntents.confirm': Implemented<
    Stripe.SetupIntentConfirmParams,
    'payment_method' | 'mandate_data' | 'return_url' | 'use_stripe_sdk' | 'expand'
  >;
  'setupIntents.retrieve': Implemented<
    Stripe.SetupIntentRetrieveParams,
    'client_secret' | 'expand'
  >;
  'setupIntents.cancel': Implemented<
    Stripe.SetupIntentCancelParams,
    'cancellation_reason' | 'expand'
  >;
  'setupIntents.list': Implemented<Stripe.SetupIntentListParams, Page | 'customer' | 'created'>;
  'refunds.create': Implemented<
    Stripe.RefundCreateParams,
    'payment_intent' | 'charge' | 'amount' | 'reason' | 'metadata' | 'expand'
  >;
  'refunds.retrieve': Implemented<Stripe.RefundRetrieveParams, 'expand'>;
  'refunds.list': Implemented<
    Stripe.RefundListParams,
    Page | 'payment_intent' | 'charge' | 'created'
  >;
  'charges.retrieve': Implemented<Stripe.ChargeRetrieveParams, 'expand'>;
  'charges.list': Implemented<
    Stripe.ChargeListParams,
    Page | 'customer' | 'payment_intent' | 'created'
  >;
  'disputes.retrieve': Implemented<Stripe.DisputeRetrieveParams, 'expand'>;
  'disputes.list': Implemented<
    Stripe.DisputeListParams,
    Page | 'payment_intent' | 'charge' | 'created'
  >;
  'balanceTransactions.retrieve': Implemented<Stripe.BalanceTransactionRetrieveParams, 'expand'>;
  'balanceTransactions.list': Implemented<
    Stripe.BalanceTransactionListParams,
    Page | 'created' | 'currency' | 'source' | 'type'
  >;
  'mandates.retrieve': Implemented<Stripe.MandateRetrieveParams, 'expand'>;
  'events.retrieve': Implemented<Stripe.EventRetrieveParams, 'expand'>;
  'events.list': Implemented<Stripe.EventListParams, Page | 'created' | 'type' | 'types'>;
}

export type OperationName = keyof RequestParameters;
