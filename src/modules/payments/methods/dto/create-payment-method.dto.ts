import { BooleanField, EnumField, TextField } from '../../../../platform/http';
import { PROVIDER_NAMES, type ProviderName } from '../../domain/payment-provider';
import type { NewPaymentMethod } from '../domain/payment-method';

export class CreatePaymentMethodDto {
  @EnumField(PROVIDER_NAMES, 'Who charges it. `manual` charges nothing and is refused.', {
    example: 'sandbox',
  })
  readonly provider!: ProviderName;
  @TextField(
    'Id or token at the provider; never a card number. For `stripe` the id of a payment method that was made with the ' +
      'publishable key, e.g. `pm_1Q…`: it is attached to the customer at Stripe.',
    {
      max: 255,
      example: 'pm_sandbox_ok',
    },
  )
  readonly token!: string;
  @BooleanField(
    'True if payments that name no payment method charge this one. It replaces the former default. ' +
      'Left out: only if the customer has no usable default.',
    { optional: true, example: true },
  )
  readonly is_default?: boolean;
}

export class UpdatePaymentMethodDto {
  @BooleanField('True if payments that name no payment method charge this one.', {
    optional: true,
    example: true,
  })
  readonly is_default?: boolean;
}

export function toNewPaymentMethod(dto: CreatePaymentMethodDto): NewPaymentMethod {
  return { provider: dto.provider, token: dto.token, isDefault: dto.is_default ?? null };
}
