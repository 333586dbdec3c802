import { defineEvent } from '../../../platform/outbox';
import { PaymentMethodDto, toPaymentMethodDto } from './dto/payment-method.dto';

const shown = { dto: PaymentMethodDto, toDto: toPaymentMethodDto };

export const paymentMethodCreated = defineEvent({
  type: 'payment_method.created',
  meaning: 'A customer got a payment method.',
  ...shown,
});

export const paymentMethodUpdated = defineEvent({
  type: 'payment_method.updated',
  meaning: 'A payment method became the default of its customer, or is it no longer.',
  example: { is_default: false },
  ...shown,
});

export const paymentMethodDeleted = defineEvent({
  type: 'payment_method.deleted',
  meaning: 'A payment method was deleted. The event shows it as it was.',
  ...shown,
});
