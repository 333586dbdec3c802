import {
  BooleanProperty,
  EnumField,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  ListQueryDto,
  ReferenceFilter,
  TextProperty,
  mapperTo,
} from '../../../../platform/http';
import { ExpandCustomerField } from '../../../customers';
import { PROVIDER_NAMES, type ProviderName } from '../../domain/payment-provider';
import { DISPUTE_STATUSES, type DisputeStatus } from '../../domain/reported-dispute';
import type { DisputeFilter } from '../domain/dispute';

export class ListDisputesDto extends ListQueryDto {
  @ExpandCustomerField() readonly expand?: readonly 'customer'[];
  @ReferenceFilter('Only the disputes of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the disputes about this payment.') readonly payment_id?: string;
  @EnumField(DISPUTE_STATUSES, 'Only those with this status.', { optional: true })
  readonly status?: DisputeStatus;
}

export function toDisputeFilter(dto: ListDisputesDto): DisputeFilter {
  return {
    customerId: dto.customer_id ?? null,
    paymentId: dto.payment_id ?? null,
    status: dto.status ?? null,
  };
}

export class DisputeDto {
  @IdProperty('dsp_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('The customer who paid.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('The disputed payment.', 'pay_01h455vb4pex5vsknk084sn02q')
  readonly payment_id!: string;
  @EnumProperty(PROVIDER_NAMES, 'Who moved the money.', 'stripe') readonly provider!: ProviderName;
  @TextProperty("The provider's id of the dispute.", 'dp_1MtJUT2eZvKYlo2CNaw2HvEv')
  readonly provider_reference!: string;
  @EnumProperty(
    DISPUTE_STATUSES,
    'The status. `inquiry`: the bank asks, and no money is withdrawn. `closed`: it ended without a decision about money.',
    'open',
  )
  readonly status!: DisputeStatus;
  @TextProperty('The reason that the provider states.', 'fraudulent', { nullable: true })
  readonly reason!: string | null;
  @IntegerProperty('Minor units of `currency` in dispute.', 10_000) readonly amount!: number;
  @TextProperty('ISO 4217; the payment’s.', 'EUR') readonly currency!: string;
  @IntegerProperty('Minor units that the provider withdrew.', 10_000)
  readonly amount_withdrawn!: number;
  @IntegerProperty('Minor units that the provider paid back.', 0)
  readonly amount_reinstated!: number;
  @IntegerProperty('Minor units that are lost.', 0) readonly amount_lost!: number;
  @BooleanProperty('True if the payment can be refunded although it is disputed.', false)
  readonly is_refundable!: boolean;
  @InstantProperty('Deadline for sending evidence to the provider.', {
    nullable: true,
    example: '2026-03-10T09:30:00.000Z',
  })
  readonly evidence_due_at!: string | null;
  @InstantProperty('When it was recorded.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export const toDisputeDto = mapperTo(DisputeDto);
