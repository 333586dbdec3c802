import { type Answer, createdAnswer } from '../../../../platform/idempotency';
import { defineEvents } from '../../../../platform/outbox';
import type { PaymentMethodSetup } from './domain/payment-method-setup';
import { PaymentMethodSetupDto, toPaymentMethodSetupDto } from './dto/payment-method-setup.dto';

const setupEvent = defineEvents(PaymentMethodSetupDto, toPaymentMethodSetupDto);

export const setupCreated = setupEvent(
  'payment_method_setup.created',
  'A customer is asked for a payment method.',
);

export const setupUpdated = setupEvent(
  'payment_method_setup.updated',
  'An attempt of the customer failed, as `failure_code` says, or `expires_at` changed.',
  { failure_code: 'declined' },
);

export const SETUP_EVENTS = {
  succeeded: setupEvent(
    'payment_method_setup.succeeded',
    'A customer set up a payment method. `payment_method.created` shows the method.',
    { status: 'succeeded', payment_method_id: 'pm_01h455vb4pex5vsknk084sn02q' },
  ),
  failed: setupEvent(
    'payment_method_setup.failed',
    'The time to set up a payment method ended after attempts that failed.',
    { status: 'failed', failure_code: 'declined', expires_at: '2026-03-01T09:30:00.000Z' },
  ),
  expired: setupEvent(
    'payment_method_setup.expired',
    'The time to set up a payment method ended without an attempt.',
    { status: 'expired', expires_at: '2026-03-01T09:30:00.000Z' },
  ),
} as const;

/** Returns the HTTP response to the request that creates a setup, and to repetitions of the request. */
export function setupAnswer(setup: PaymentMethodSetup): Answer {
  return createdAnswer(toPaymentMethodSetupDto(setup), setup.version);
}
