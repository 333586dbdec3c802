import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireInstant } from '../../../platform/http';
import type { LateUsage } from '../domain/late-usage';

export class LateUsageDto {
  @IdProperty('ub_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Whose usage it is.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @ApiProperty({
    description: 'The meter that counts it.',
    example: 'meter_01h455vb4pex5vsknk084sn02q',
  })
  readonly meter_id!: string;

  @InstantProperty('Start of the period that was billed without it.')
  readonly period_start!: string;

  @InstantProperty('End of the period, exclusive.')
  readonly period_end!: string;

  @ApiProperty({ type: 'integer', description: 'How many events came late.', example: 3 })
  readonly events!: number;
}

export function toLateUsageDto(late: LateUsage): LateUsageDto {
  return {
    id: late.billedId,
    customer_id: late.customerId,
    meter_id: late.meterId,
    period_start: toWireInstant(late.period.startAt),
    period_end: toWireInstant(late.period.endAt),
    events: late.events,
  };
}
