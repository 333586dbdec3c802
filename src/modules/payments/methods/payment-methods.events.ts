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
  'A payment method became or ceased to be the default of its customer, or a final decline made it unusable.',
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
