import { type Answer, createdAnswer } from '../../../platform/idempotency';
import { defineEvents } from '../../../platform/outbox';
import type { PaymentMethod } from './domain/payment-method';
import { PaymentMethodDto, toPaymentMethodDto } from './dto/payment-method.dto';

const paymentMethodEvent = defineEvents(PaymentMethodDto, toPaymentMethodDto);

export const paymentMethodCreated = paymentMethodEvent(
  'payment_method.created',
  'A customer got a payment method.',
);

export const paymentMethodUpdated = paymentMethodEvent(
  'payment_method.updated',
  'A payment method became the default of its customer, or is it no longer, or became unusable by a final decline.',
  { is_default: false },
);

export const paymentMethodDeleted = paymentMethodEvent(
  'payment_method.deleted',
  'A payment method was deleted. The event shows it as it was.',
);

/** Returns the HTTP response to the request that creates a payment method, and to repetitions of the request. */
export function paymentMethodAnswer(method: PaymentMethod): Answer {
  return createdAnswer(toPaymentMethodDto(method), method.version);
}
