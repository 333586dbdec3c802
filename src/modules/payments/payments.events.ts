import { type Answer, createdAnswer } from '../../platform/idempotency';
import { defineEvent } from '../../platform/outbox';
import type { Payment, PaymentStatus } from './domain/payment';
import { PaymentDto, toPaymentDto } from './dto/payment.dto';

const shown = { dto: PaymentDto, toDto: toPaymentDto };

export const paymentCreated = defineEvent({
  type: 'payment.created',
  meaning: 'A payment was taken up; the provider has not been asked yet.',
  example: { status: 'pending' },
  ...shown,
});

export const paymentUpdated = defineEvent({
  type: 'payment.updated',
  meaning:
    'A refund of the payment ended: its amount went from `amount_refund_pending` to `amount_refunded`, or was freed. ' +
    '`refund.created` reports the reserve. Also sent when the invoice that the payment paid in part was voided because its ' +
    'subscription never began: `amount_applied` is then 0, and the money is the customer’s credit.',
  example: { amount_refunded: 2_500 },
  ...shown,
});

/** The event of each state a payment can come into. */
export const PAYMENT_EVENTS = {
  processing: defineEvent({
    type: 'payment.processing',
    meaning: 'The provider has the payment, but its outcome is not known yet.',
    example: { status: 'processing' },
    ...shown,
  }),
  requires_action: defineEvent({
    type: 'payment.requires_action',
    meaning: 'The customer has to do something before the payment can go on.',
    example: { status: 'requires_action' },
    ...shown,
  }),
  succeeded: defineEvent({
    type: 'payment.succeeded',
    meaning:
      'The money has moved; after `payment.failed`, that was found later and booked by applying a provider discrepancy.',
    ...shown,
  }),
  failed: defineEvent({
    type: 'payment.failed',
    meaning: 'The provider refused the payment; `failure_code` says why.',
    example: { status: 'failed', failure_code: 'card_declined' },
    ...shown,
  }),
  canceled: defineEvent({
    type: 'payment.canceled',
    meaning: 'The payment was given up before any money moved.',
    example: { status: 'canceled' },
    ...shown,
  }),
} as const satisfies Record<Exclude<PaymentStatus, 'pending'>, unknown>;

/** Returns the answer to the request that created the payment, and to its repetitions. */
export function paymentAnswer(payment: Payment): Answer {
  return createdAnswer(toPaymentDto(payment), payment.version);
}
