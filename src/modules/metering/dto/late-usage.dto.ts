import {
  IdProperty,
  InstantProperty,
  IntegerProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { LateUsage } from '../domain/late-usage';

export class LateUsageDto {
  @IdProperty('ub_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('Id of the meter.', 'meter_01h455vb4pex5vsknk084sn02q') readonly meter_id!: string;
  @InstantProperty('Start of the billed period.', { example: '2026-02-01T09:30:00.000Z' })
  readonly period_start!: string;
  @InstantProperty('End of the billed period, exclusive.')
  readonly period_end!: string;
  @IntegerProperty('Number of late events.', 3) readonly events!: number;
}

export function toLateUsageDto(late: LateUsage): LateUsageDto {
  return toDto(LateUsageDto, {
    ...late,
    id: late.billedId,
    periodStart: late.period.startAt,
    periodEnd: late.period.endAt,
  });
}
