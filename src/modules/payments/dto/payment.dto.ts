import {
  ActorProperty,
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MetadataProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import { PAYMENT_STATUSES, type PaymentStatus } from '../domain/payment';
import { PROVIDER_NAMES, type ProviderName } from '../domain/payment-provider';

export class PaymentDto {
  @IdProperty('pay_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Customer who pays.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('The invoice that the payment pays.', 'inv_01h455vb4pex5vsknk084sn02q', {
    nullable: true,
  })
  readonly invoice_id!: string | null;
  @IntegerProperty(
    'Number of the automatic attempt to collect the invoice; null if the payment is not automatic.',
    null,
    { nullable: true },
  )
  readonly collection_attempt!: number | null;
  @IntegerProperty('Minor units of `currency`.', 10_000) readonly amount!: number;
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @EnumProperty(
    PAYMENT_STATUSES,
    'The status. `succeeded`, `failed` and `canceled` are final, unless an admin applies a provider discrepancy.',
    'succeeded',
  )
  readonly status!: PaymentStatus;
  @IntegerProperty(
    'Minor units that paid the invoice. What is left of a succeeded payment is the customer’s credit.',
    10_000,
  )
  readonly amount_applied!: number;
  @IntegerProperty('Minor units given back.', 0) readonly amount_refunded!: number;
  @IntegerProperty('Minor units that pending refunds reserve.', 0)
  readonly amount_refund_pending!: number;
  @IntegerProperty('Minor units lost in disputes.', 0) readonly amount_lost!: number;
  @BooleanProperty('True while a dispute blocks refunds.', false)
  readonly is_disputed!: boolean;
  @EnumProperty(PROVIDER_NAMES, 'Who moves the money.', 'sandbox') readonly provider!: ProviderName;
  @TextProperty(
    'The charged payment method: a payment method of the customer, or a sandbox token.',
    'pm_sandbox_ok',
    { nullable: true },
  )
  readonly payment_method_id!: string | null;
  @TextProperty('Reason of the failure, as a code; null unless `failed`.', null, { nullable: true })
  readonly failure_code!: string | null;
  @ActorProperty('Who created it', { nullable: true }) readonly actor!: string | null;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export const toPaymentDto = mapperTo(PaymentDto);
