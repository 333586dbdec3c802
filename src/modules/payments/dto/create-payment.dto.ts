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
import type { MethodChoice, PaymentRequest } from '../domain/payment';
import { PROVIDER_NAMES, type ProviderName } from '../domain/payment-provider';

/** Amount and method of a payment of an invoice. Omitted fields are chosen by the service. */
export class PayInvoiceDto {
  @Omittable()
  @IsIn(PROVIDER_NAMES)
  @ApiPropertyOptional({
    enum: PROVIDER_NAMES,
    description:
      '`sandbox` simulates a gateway; `manual` records money that moved elsewhere. Left out together with ' +
      '`payment_method_id`: the customer’s default payment method. A customer without one is refused, except for a ' +
      'payment of no invoice where the sandbox is switched on, which simulates it. `PAYMENT_PROVIDERS` names the providers ' +
      'that are switched on.',
    example: 'sandbox',
  })
  readonly provider?: ProviderName;

  @Nullable()
  @IsText(1, 255)
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'What is charged: a payment method of the customer, or a token of the sandbox, which takes `pm_sandbox_ok` (its ' +
      'default), `pm_sandbox_declined`, `pm_sandbox_insufficient_funds`, `pm_sandbox_pending`, ' +
      '`pm_sandbox_refund_fails`, `pm_sandbox_refund_pending` and `pm_sandbox_unknown`; `manual` takes none.',
    example: 'pm_sandbox_ok',
  })
  readonly payment_method_id?: string | null;
}

export class CreatePaymentDto extends PayInvoiceDto {
  @IsText(1, 40)
  @ApiProperty({ description: 'Who pays.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({
    description:
      'The invoice to pay, wholly or in part. Left out: it becomes the customer’s credit.',
    example: 'inv_01h455vb4pex5vsknk084sn02q',
  })
  readonly invoice_id?: string;

  @IsMinorUnits(1)
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Minor units of `currency`.',
    example: 10_000,
  })
  readonly amount!: number;

  @IsCurrency()
  @ApiProperty({ description: 'ISO 4217.', example: 'EUR' })
  readonly currency!: string;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toPaymentRequest(dto: CreatePaymentDto): PaymentRequest {
  return {
    ...toMethodChoice(dto),
    customerId: dto.customer_id,
    invoiceId: dto.invoice_id ?? null,
    amount: BigInt(dto.amount),
    currency: dto.currency,
    metadata: dto.metadata ?? {},
  };
}

export function toMethodChoice(dto: PayInvoiceDto): MethodChoice {
  return { provider: dto.provider ?? null, paymentMethodId: dto.payment_method_id ?? null };
}
