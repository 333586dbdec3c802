import { type Answer, createdAnswer } from '../../platform/idempotency';
import { defineEvents } from '../../platform/outbox';
import type { Payment, PaymentStatus } from './domain/payment';
import { PaymentDto, toPaymentDto } from './dto/payment.dto';

const paymentEvent = defineEvents(PaymentDto, toPaymentDto);

export const paymentCreated = paymentEvent(
  'payment.created',
  'A payment was created; the provider has not been asked yet.',
  { status: 'pending' },
);

export const paymentUpdated = paymentEvent(
  'payment.updated',
  'A refund of the payment ended: its amount went from `amount_refund_pending` to `amount_refunded`, or was freed. ' +
    '`refund.created` reports the reserve. Also sent when a dispute changes `is_disputed` or `amount_lost`, and when the invoice that the payment paid in part was voided because its ' +
    'subscription never began: `amount_applied` is then 0, and the money is the customer’s credit.',
  { amount_refunded: 2_500 },
);

export const PAYMENT_EVENTS = {
  processing: paymentEvent(
    'payment.processing',
    'The provider has the payment, but its outcome is not known yet.',
    { status: 'processing' },
  ),
  requires_action: paymentEvent(
    'payment.requires_action',
    'The customer has to do something before the payment can go on.',
    { status: 'requires_action' },
  ),
  succeeded: paymentEvent(
    'payment.succeeded',
    'The money has moved. If it follows `payment.failed`, a provider discrepancy was applied.',
  ),
  failed: paymentEvent(
    'payment.failed',
    'The provider refused the payment; `failure_code` says why.',
    { status: 'failed', failure_code: 'card_declined' },
  ),
  canceled: paymentEvent('payment.canceled', 'The payment was given up before any money moved.', {
    status: 'canceled',
  }),
} as const satisfies Record<Exclude<PaymentStatus, 'pending'>, unknown>;

/** Returns the HTTP response to the request that creates a payment, and to repetitions of the request. */
export function paymentAnswer(payment: Payment): Answer {
  return createdAnswer(toPaymentDto(payment), payment.version);
}
