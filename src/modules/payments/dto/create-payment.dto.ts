import {
  CurrencyField,
  EnumField,
  MetadataField,
  MinorUnitsField,
  ReferenceField,
  TextField,
} from '../../../platform/http';
import type { MethodChoice, PaymentRequest } from '../domain/payment';
import { PROVIDER_NAMES, type ProviderName } from '../domain/payment-provider';

export class PayInvoiceDto {
  @EnumField(
    PROVIDER_NAMES,
    '`sandbox` simulates a gateway; `manual` records money that moved elsewhere. If `provider` and ' +
      '`payment_method_id` are left out, the customer’s default method is charged. Without a default, the request is refused, ' +
      'except for a payment without an invoice while the sandbox is enabled: the sandbox then simulates the payment. ' +
      '`PAYMENT_PROVIDERS` lists the enabled providers.',
    { optional: true, example: 'sandbox' },
  )
  readonly provider?: ProviderName;
  @TextField(
    'The charged payment method: a payment method of the customer, or a sandbox token: `pm_sandbox_ok` (its ' +
      'default), `pm_sandbox_declined`, `pm_sandbox_insufficient_funds`, `pm_sandbox_unusable`, `pm_sandbox_pending`, ' +
      '`pm_sandbox_refund_fails`, `pm_sandbox_refund_pending` or `pm_sandbox_unknown`. `manual` takes none.',
    { max: 255, nullable: true, example: 'pm_sandbox_ok' },
  )
  readonly payment_method_id?: string | null;
}

export class CreatePaymentDto extends PayInvoiceDto {
  @ReferenceField('Customer who pays.', { example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;
  @ReferenceField(
    'The invoice to pay, wholly or in part. Left out: the money becomes credit of the customer.',
    { optional: true, example: 'inv_01h455vb4pex5vsknk084sn02q' },
  )
  readonly invoice_id?: string;
  @MinorUnitsField(1, 'Minor units of `currency`.', { example: 10_000 }) readonly amount!: number;
  @CurrencyField('ISO 4217.', { example: 'EUR' }) readonly currency!: string;
  @MetadataField() readonly metadata?: Record<string, unknown>;
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
