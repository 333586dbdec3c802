import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import {
  IsCurrency,
  IsMinorUnits,
  IsText,
  MetadataField,
  Nullable,
  Omittable,
} from '../../../platform/http';
import type { PaymentOrder } from '../domain/payment';
import { PROVIDER_NAMES, type ProviderName } from '../domain/payment-provider';

export class CreatePaymentDto {
  @IsText(1, 40)
  @ApiProperty({ description: 'Who pays.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @IsMinorUnits(1)
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Minor units of `currency`.',
    example: 10_000,
  })
  readonly amount!: number;

  @IsCurrency()
  @ApiProperty({ description: 'ISO 4217.', example: 'USD' })
  readonly currency!: string;

  @Omittable()
  @IsIn(PROVIDER_NAMES)
  @ApiPropertyOptional({
    enum: PROVIDER_NAMES,
    default: 'sandbox',
    description: '`sandbox` simulates a gateway; `manual` records money that moved elsewhere.',
    example: 'sandbox',
  })
  readonly provider?: ProviderName;

  @Nullable()
  @IsText(1, 255)
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'What is charged. The sandbox takes `pm_sandbox_ok` (the default), `pm_sandbox_declined`, ' +
      '`pm_sandbox_insufficient_funds`, `pm_sandbox_pending`, `pm_sandbox_refund_fails`, ' +
      '`pm_sandbox_refund_pending` and `pm_sandbox_unknown`; `manual` takes none.',
    example: 'pm_sandbox_ok',
  })
  readonly payment_method_id?: string | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toPaymentOrder(dto: CreatePaymentDto): PaymentOrder {
  return {
    customerId: dto.customer_id,
    amount: BigInt(dto.amount),
    currency: dto.currency,
    provider: dto.provider ?? 'sandbox',
    paymentMethodId: dto.payment_method_id ?? null,
    metadata: dto.metadata ?? {},
  };
}
