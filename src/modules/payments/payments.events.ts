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
  'The payment changed for one of these reasons. A refund ended: its amount moved from `amount_refund_pending` to ' +
    '`amount_refunded`, or is no longer reserved. A bank returned a succeeded refund: `amount_refunded` is lower. A dispute ' +
    'changed `is_disputed` or `amount_lost`. A partly paid invoice was voided because its subscription never began: ' +
    '`amount_applied` is then 0, and the money is the customer’s credit. `refund.created` reports the amount that a new ' +
    'refund reserves.',
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
    'The customer must confirm the payment, e.g. by 3-D Secure.',
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
  canceled: paymentEvent('payment.canceled', 'The payment was canceled before any money moved.', {
    status: 'canceled',
  }),
} as const satisfies Record<Exclude<PaymentStatus, 'pending'>, unknown>;

/** Returns the HTTP response to the request that creates a payment, and to repetitions of the request. */
export function paymentAnswer(payment: Payment): Answer {
  return createdAnswer(toPaymentDto(payment), payment.version);
}
