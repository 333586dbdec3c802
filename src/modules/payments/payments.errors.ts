import { defineNotFound, defineProblem } from '../../platform/errors';
import type { ProviderName } from './domain/payment-provider';

export const paymentNotFound = defineNotFound('payment_not_found', 'a payment');

export const paymentMethodNotAccepted = defineProblem({
  code: 'payment_method_not_accepted',
  kind: 'rule_broken',
  title: 'The provider cannot charge this payment method',
  meaning:
    'The sandbox charges only its own `pm_sandbox_…` tokens. `manual` records money that moved elsewhere and takes no method. A payment method of a customer belongs to one provider.',
  occurrence: (provider: ProviderName, pointer: '/payment_method_id' | '/token') => ({
    detail: `The provider ${provider} cannot charge this ${pointer.slice(1)}.`,
    errors: [{ pointer, code: 'not_accepted', message: 'is not known to the provider' }],
  }),
});

export const paymentMethodRequired = defineProblem({
  code: 'payment_method_required',
  kind: 'rule_broken',
  title: 'There is no payment method to charge',
  meaning:
    'The request names no payment method and the customer has no default. Add a payment method to the customer, or name a `provider`: `manual` records money that was paid elsewhere.',
  occurrence: (customerId: string) => ({
    detail:
      `The customer ${customerId} has no default payment method, and the request names none. ` +
      'Add a payment method, or send `"provider": "manual"` for money that was paid elsewhere.',
    errors: [
      {
        pointer: '/payment_method_id',
        code: 'required',
        message: 'must be sent, because the customer has no default payment method',
      },
    ],
  }),
});

export const paymentProviderNotEnabled = defineProblem({
  code: 'payment_provider_not_enabled',
  kind: 'rule_broken',
  title: 'The payment provider is not switched on',
  meaning:
    'The setting `PAYMENT_PROVIDERS` of this service does not name the provider that would move the money. Use another provider or payment method, or switch the provider on.',
  occurrence: (provider: ProviderName) => ({
    detail: `The payment provider ${provider} is not switched on; the setting PAYMENT_PROVIDERS names those that are.`,
    extensions: { provider },
  }),
});

export const paymentMethodNotFound = defineProblem({
  code: 'payment_method_not_found',
  kind: 'not_found',
  title: 'There is no such payment method',
  meaning: 'The id in the path is not the id of a payment method of this customer.',
  detail: (id: string) => `The customer has no payment method ${JSON.stringify(id)}.`,
});

export const paymentContradictsInvoice = defineProblem({
  code: 'payment_contradicts_invoice',
  kind: 'rule_broken',
  title: 'The invoice belongs to another customer',
  meaning: 'A payment with an `invoice_id` must be made by the customer of that invoice.',
  occurrence: (invoiceId: string) => ({
    detail: `The invoice ${invoiceId} is not this customer’s.`,
    errors: [
      { pointer: '/invoice_id', code: 'contradiction', message: 'is another customer’s invoice' },
    ],
  }),
});

export const paymentNotRefundable = defineProblem({
  code: 'payment_not_refundable',
  kind: 'conflict',
  title: 'The payment has not succeeded',
  isTemporary: true,
  meaning:
    'Only a payment with status `succeeded` can be refunded. Wait until a processing one has succeeded.',
  occurrence: (id: string, status: string) => ({
    detail: `The payment ${id} is ${status}; only a succeeded payment can be refunded.`,
    extensions: { payment_status: status },
  }),
});

export const refundAmountExceedsRefundable = defineProblem({
  code: 'refund_amount_exceeds_refundable',
  kind: 'rule_broken',
  title: 'The amount exceeds what is refundable',
  meaning:
    'The amount exceeds `refundable_amount`. Refunded amounts, amounts reserved by pending refunds, and credit from the payment that invoices used are not refundable.',
  occurrence: (refundable: bigint) => ({
    detail: `Only ${refundable} minor units of the payment can still be refunded.`,
    // `Number` is exact here: the refundable amount is at most the payment's amount, which arrived as a JSON number.
    extensions: { refundable_amount: Number(refundable) },
    errors: [
      { pointer: '/amount', code: 'exceeds_refundable', message: `must be at most ${refundable}` },
    ],
  }),
});

export const paymentNotInSandbox = defineProblem({
  code: 'payment_not_in_sandbox',
  kind: 'conflict',
  title: 'The payment is not pending in the sandbox',
  meaning: 'Only a payment that the sandbox received and has not settled yet can be settled.',
  detail: (id: string) => `The payment ${id} is not pending in the sandbox.`,
});

export const paymentProviderUnavailable = defineProblem({
  code: 'payment_provider_unavailable',
  kind: 'unavailable',
  title: 'The payment provider did not answer',
  meaning:
    'The payment provider is out of reach, overloaded, or refuses the key of the service. No money moved. Try again after `Retry-After`.',
  occurrence: (provider: ProviderName) => ({
    detail: `The payment provider ${provider} did not answer. Try again.`,
    retryAfterSeconds: 5,
  }),
});

export const testClockNotChargeable = defineProblem({
  code: 'test_clock_not_chargeable',
  kind: 'rule_broken',
  title: 'Customers on test clocks are not charged with real money',
  meaning:
    'The payment provider moves real money, and the customer is on a test clock. Use a customer without a test clock, or a service with test keys.',
  detail: (customerId: string) =>
    `The customer ${customerId} is on a test clock, and the payment provider moves real money.`,
});

export const paymentActionNotRequired = defineProblem({
  code: 'payment_action_not_required',
  kind: 'conflict',
  title: 'The customer has nothing to confirm',
  meaning:
    'Only a payment with status `requires_action` waits for its customer. Read the payment: it may have ended meanwhile.',
  detail: (id: string, status: string) =>
    status === 'requires_action'
      ? `The customer has already confirmed or declined the payment ${id}. Read the payment again in a minute.`
      : `The payment ${id} is ${status}; its customer has nothing to confirm.`,
});

export const webhookSignatureInvalid = defineProblem({
  code: 'webhook_signature_invalid',
  kind: 'unauthenticated',
  title: 'The signature or mode of the notification is wrong',
  meaning:
    'The header `Stripe-Signature` is missing, was made with a secret that is not in `STRIPE_WEBHOOK_SECRETS`, or has a time that differs by more than five minutes; or a test event arrived in live mode, or a live event in test mode. Nothing was stored.',
  detail: () =>
    'The signature of the notification is missing or wrong, or its time is more than five minutes off, or the mode of the notification (test or live) is not that of the service.',
});
