import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  TextProperty,
  toDto,
} from '../../../../platform/http';
import { PROVIDER_NAMES, type ProviderName } from '../../domain/payment-provider';
import type { PaymentMethod } from '../domain/payment-method';

export class PaymentMethodDto {
  @IdProperty('pm_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @TextProperty('Whose it is.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @EnumProperty(PROVIDER_NAMES, 'Who charges it.', 'sandbox')
  readonly provider!: ProviderName;
  @TextProperty('As the provider names it.', 'pm_sandbox_ok')
  readonly token!: string;
  @BooleanProperty('Whether it is what is charged where nothing else is said.', true)
  readonly is_default!: boolean;
  @InstantProperty('When it was created.')
  readonly created_at!: string;
  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toPaymentMethodDto(method: PaymentMethod): PaymentMethodDto {
  return toDto(PaymentMethodDto, method);
}
