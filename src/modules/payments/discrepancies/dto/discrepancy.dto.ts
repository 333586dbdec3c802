import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireInstant } from '../../../../platform/http';
import {
  type Discrepancy,
  DISCREPANCY_STATUSES,
  type DiscrepancyStatus,
  FINAL_STATUSES,
  type FinalStatus,
  REPORTED_STATUSES,
  type ReportedStatus,
} from '../domain/discrepancy';

export class DiscrepancyDto {
  @IdProperty('dscr_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({
    description: 'The payment, or the payment of the refund.',
    example: 'pay_01h455vb4pex5vsknk084sn02q',
  })
  readonly payment_id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The refund that the report is about; null: it is about the payment.',
    example: null,
  })
  readonly refund_id!: string | null;

  @ApiProperty({
    enum: FINAL_STATUSES,
    description: 'The final status that was recorded before the report.',
    example: 'failed',
  })
  readonly recorded_status!: FinalStatus;

  @ApiProperty({
    enum: REPORTED_STATUSES,
    description:
      'The status that the provider reports. `succeeded` after `succeeded`: under another reference, so money may have moved twice.',
    example: 'succeeded',
  })
  readonly reported_status!: ReportedStatus;

  @ApiProperty({
    type: String,
    nullable: true,
    description: "The provider's own name for what it reports as succeeded.",
    example: 'ch_3P9x2kLkdIwHu7ix',
  })
  readonly provider_reference!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The reason of a reported failure.',
    example: null,
  })
  readonly failure_code!: string | null;

  @ApiProperty({
    enum: DISCREPANCY_STATUSES,
    description: '`open` until it is applied or dismissed.',
    example: 'open',
  })
  readonly status!: DiscrepancyStatus;

  @InstantProperty('When it was recorded.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toDiscrepancyDto(discrepancy: Discrepancy): DiscrepancyDto {
  return {
    id: discrepancy.id,
    payment_id: discrepancy.paymentId,
    refund_id: discrepancy.refundId,
    recorded_status: discrepancy.recordedStatus,
    reported_status: discrepancy.reportedStatus,
    provider_reference: discrepancy.providerReference,
    failure_code: discrepancy.failureCode,
    status: discrepancy.status,
    created_at: toWireInstant(discrepancy.createdAt),
    updated_at: toWireInstant(discrepancy.updatedAt),
  };
}
