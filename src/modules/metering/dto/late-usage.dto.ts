import {
  IdProperty,
  InstantProperty,
  IntegerProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { LateUsage } from '../domain/late-usage';

export class LateUsageDto {
  @IdProperty('ub_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @TextProperty('Whose usage it is.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('The meter that counts it.', 'meter_01h455vb4pex5vsknk084sn02q')
  readonly meter_id!: string;
  @InstantProperty('Start of the period that was billed without it.')
  readonly period_start!: string;
  @InstantProperty('End of the period, exclusive.')
  readonly period_end!: string;
  @IntegerProperty('How many events came late.', 3)
  readonly events!: number;
}

export function toLateUsageDto(late: LateUsage): LateUsageDto {
  return toDto(LateUsageDto, {
    ...late,
    id: late.billedId,
    periodStart: late.period.startAt,
    periodEnd: late.period.endAt,
  });
}
