import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import { type Payment, PAYMENT_STATUSES, type PaymentStatus } from '../domain/payment';
import { PROVIDER_NAMES, type ProviderName } from '../domain/payment-provider';

export class PaymentDto {
  @IdProperty('pay_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Who pays.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The invoice it is to pay.',
    example: 'inv_01h455vb4pex5vsknk084sn02q',
  })
  readonly invoice_id!: string | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Which automatic attempt at the invoice it is; null: somebody asked for it.',
    example: null,
  })
  readonly collection_attempt!: number | null;

  @ApiProperty({ type: 'integer', description: 'Minor units of `currency`.', example: 10_000 })
  readonly amount!: number;

  @ApiProperty({ description: 'ISO 4217.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({
    enum: PAYMENT_STATUSES,
    description:
      'The status. `succeeded`, `failed` and `canceled` are final, unless a provider discrepancy is applied.',
    example: 'succeeded',
  })
  readonly status!: PaymentStatus;

  @ApiProperty({
    type: 'integer',
    description:
      'Minor units that paid the invoice. What is left of a succeeded payment is the customer’s credit.',
    example: 10_000,
  })
  readonly amount_applied!: number;

  @ApiProperty({ type: 'integer', description: 'Minor units given back.', example: 0 })
  readonly amount_refunded!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Minor units that pending refunds reserve.',
    example: 0,
  })
  readonly amount_refund_pending!: number;

  @ApiProperty({ enum: PROVIDER_NAMES, description: 'Who moves the money.', example: 'sandbox' })
  readonly provider!: ProviderName;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'What is charged: a payment method of the customer, or a token of the sandbox.',
    example: 'pm_sandbox_ok',
  })
  readonly payment_method_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why the provider refused, when `failed`.',
    example: null,
  })
  readonly failure_code!: string | null;

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toPaymentDto(payment: Payment): PaymentDto {
  return {
    id: payment.id,
    customer_id: payment.customerId,
    invoice_id: payment.invoiceId,
    collection_attempt: payment.collectionAttempt,
    amount: toWireAmount(payment.amount),
    currency: payment.currency,
    status: payment.status,
    amount_applied: toWireAmount(payment.amountApplied),
    amount_refunded: toWireAmount(payment.amountRefunded),
    amount_refund_pending: toWireAmount(payment.amountRefundPending),
    provider: payment.provider,
    payment_method_id: payment.paymentMethodId,
    failure_code: payment.failureCode,
    metadata: payment.metadata,
    created_at: toWireInstant(payment.createdAt),
    updated_at: toWireInstant(payment.updatedAt),
  };
}
