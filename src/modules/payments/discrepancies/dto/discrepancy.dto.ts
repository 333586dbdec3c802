import {
  EnumProperty,
  IdProperty,
  InstantProperty,
  TextProperty,
  mapperTo,
} from '../../../../platform/http';
import {
  DISCREPANCY_STATUSES,
  type DiscrepancyStatus,
  FINAL_STATUSES,
  type FinalStatus,
  REPORTED_STATUSES,
  type ReportedStatus,
} from '../domain/discrepancy';

export class DiscrepancyDto {
  @IdProperty('dscr_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('The payment, or the payment of the refund.', 'pay_01h455vb4pex5vsknk084sn02q')
  readonly payment_id!: string;
  @TextProperty(
    'The refund that the report is about; null if the report is about the payment itself.',
    null,
    {
      nullable: true,
    },
  )
  readonly refund_id!: string | null;
  @EnumProperty(FINAL_STATUSES, 'The final status that was recorded before the report.', 'failed')
  readonly recorded_status!: FinalStatus;
  @EnumProperty(
    REPORTED_STATUSES,
    'The status that the provider reports. A `succeeded` report for a succeeded payment or refund has another provider reference, so money may have moved twice.',
    'succeeded',
  )
  readonly reported_status!: ReportedStatus;
  @TextProperty(
    "The provider's id of the charge or refund that was reported as succeeded; null for a reported failure.",
    'ch_3P9x2kLkdIwHu7ix',
    { nullable: true },
  )
  readonly provider_reference!: string | null;
  @TextProperty('The reason of a reported failure.', null, { nullable: true })
  readonly failure_code!: string | null;
  @EnumProperty(DISCREPANCY_STATUSES, '`open` until it is applied or dismissed.', 'open')
  readonly status!: DiscrepancyStatus;
  @InstantProperty('When it was recorded.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export const toDiscrepancyDto = mapperTo(DiscrepancyDto);
