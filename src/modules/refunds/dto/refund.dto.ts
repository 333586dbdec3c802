import {
  ActorProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MetadataProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import {
  REFUND_SOURCES,
  REFUND_STATUSES,
  type RefundSource,
  type RefundStatus,
} from '../domain/refund';

export class RefundDto {
  @IdProperty('ref_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('The refunded payment.', 'pay_01h455vb4pex5vsknk084sn02q')
  readonly payment_id!: string;
  @TextProperty('The customer of the payment.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @IntegerProperty('Minor units of `currency`.', 2_500) readonly amount!: number;
  @TextProperty('ISO 4217; the payment’s.', 'EUR') readonly currency!: string;
  @EnumProperty(
    REFUND_STATUSES,
    'The status. `pending` reserves the amount; `succeeded` becomes `failed` when a bank returns the money.',
    'succeeded',
  )
  readonly status!: RefundStatus;
  @TextProperty('Free text.', 'Arrived broken', { nullable: true }) readonly reason!: string | null;
  @TextProperty(
    'The key the client sent, in the body or as the `Idempotency-Key` header.',
    'order-1042-refund-1',
    { nullable: true },
  )
  readonly idempotencyKey!: string | null;
  @TextProperty('Reason of the failure, as a code; null unless `failed`.', null, { nullable: true })
  readonly failure_code!: string | null;
  @EnumProperty(
    REFUND_SOURCES,
    '`api`: requested from this service. `provider`: made at the provider and found later.',
    'api',
  )
  readonly source!: RefundSource;
  @TextProperty('The credit note that was issued with it.', null, { nullable: true })
  readonly credit_note_id!: string | null;
  @ActorProperty('Who created it') readonly actor!: string;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export const toRefundDto = mapperTo(RefundDto);
