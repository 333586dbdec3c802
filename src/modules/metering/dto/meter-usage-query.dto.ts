import { IsString, MaxLength } from 'class-validator';
import type { Period } from '../../../core/time';
import { EnumField, Field, IdField, InstantField } from '../../../platform/http';
import { USAGE_INTERVALS, type UsageInterval } from '../domain/usage-intervals';

const LONGEST_GROUP_BY = 600;

/** Whose usage, and when. */
export class MeterPeriodDto {
  @IdField('cus', 'Whose usage.', { example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;
  @InstantField('The first instant that counts.', { example: '2026-03-01T00:00:00.000Z' })
  readonly from!: string;
  @InstantField('The first instant that no longer counts.', { example: '2026-04-01T00:00:00.000Z' })
  readonly to!: string;
}

export class MeterUsageQueryDto extends MeterPeriodDto {
  @EnumField(
    USAGE_INTERVALS,
    "Hours, days or months by the customer's local time, cut at `from` and `to`; left out: one window.",
    { optional: true },
  )
  readonly window?: UsageInterval;
  @Field(
    { type: String },
    [IsString(), MaxLength(LONGEST_GROUP_BY)],
    'Properties the meter groups by, with commas between them: a value for each of their texts.',
    { optional: true, example: 'model' },
  )
  readonly group_by?: string;
}

export function toPeriod(query: MeterPeriodDto): Period {
  return { startAt: new Date(query.from), endAt: new Date(query.to) };
}
