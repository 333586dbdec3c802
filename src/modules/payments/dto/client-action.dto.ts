import {
  EnumProperty,
  IdProperty,
  InstantProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import { PROVIDER_NAMES, type ProviderName } from '../domain/payment-provider';

export class ClientActionDto {
  @IdProperty('pay_01h455vb4pex5vsknk084sn02q') readonly payment_id!: string;
  @EnumProperty(PROVIDER_NAMES, 'Provider whose script confirms the payment.', 'stripe')
  readonly provider!: ProviderName;
  @TextProperty(
    'Secret for the provider’s script.',
    'pi_3MtwBwLkdIwHu7ix_secret_YrKJUKribcBjcG8HVhfZluoGH',
  )
  readonly client_secret!: string;
  @InstantProperty('Time at which the payment is canceled.', {
    example: '2026-03-02T09:30:00.000Z',
  })
  readonly expires_at!: string;
}

export const toClientActionDto = mapperTo(ClientActionDto);
