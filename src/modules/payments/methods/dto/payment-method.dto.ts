import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireInstant } from '../../../../platform/http';
import { PROVIDER_NAMES, type ProviderName } from '../../domain/payment-provider';
import type { PaymentMethod } from '../domain/payment-method';

export class PaymentMethodDto {
  @IdProperty('pm_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Whose it is.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @ApiProperty({ enum: PROVIDER_NAMES, description: 'Who charges it.', example: 'sandbox' })
  readonly provider!: ProviderName;

  @ApiProperty({ description: 'As the provider names it.', example: 'pm_sandbox_ok' })
  readonly token!: string;

  @ApiProperty({
    description: 'Whether it is what is charged where nothing else is said.',
    example: true,
  })
  readonly is_default!: boolean;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toPaymentMethodDto(method: PaymentMethod): PaymentMethodDto {
  return {
    id: method.id,
    customer_id: method.customerId,
    provider: method.provider,
    token: method.token,
    is_default: method.isDefault,
    created_at: toWireInstant(method.createdAt),
    updated_at: toWireInstant(method.updatedAt),
  };
}
