import { IsString, MaxLength } from 'class-validator';
import type { Period } from '../../../core/time';
import {
  EnumField,
  Field,
  IdField,
  InstantField,
  LimitField,
  TimeZoneField,
} from '../../../platform/http';
import { USAGE_INTERVALS, type UsageInterval } from '../domain/usage-intervals';

const MAX_GROUP_BY_LENGTH = 600;
export const DEFAULT_TIME_ZONE = 'UTC';
export const DEFAULT_TOP = 5;

function GroupByField(): PropertyDecorator {
  return Field(
    { type: String, maxLength: MAX_GROUP_BY_LENGTH },
    [IsString(), MaxLength(MAX_GROUP_BY_LENGTH)],
    'Properties that the meter groups by, separated by commas. Returns a value per group.',
    { optional: true, example: 'model' },
  );
}

function WindowField(): PropertyDecorator {
  return EnumField(
    USAGE_INTERVALS,
    'Hours, days or months in `time_zone`, cut at `from` and `to`. Default: one window.',
    { optional: true },
  );
}

function WindowZoneField(): PropertyDecorator {
  return TimeZoneField(
    'IANA time zone that the windows follow. Default: that of the customer, or `UTC` for all customers.',
    { optional: true, example: 'Europe/Paris' },
  );
}

class UsagePeriodDto {
  @InstantField('Start of the period.', { example: '2026-03-01T00:00:00.000Z' })
  readonly from!: string;
  @InstantField('End of the period, exclusive.', { example: '2026-04-01T00:00:00.000Z' })
  readonly to!: string;
}

export class MeterPeriodDto extends UsagePeriodDto {
  @IdField('cus', 'Id of the customer.', { example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;
}

export class TopCustomersQueryDto extends UsagePeriodDto {
  @LimitField('Maximum number of customers. Those with the largest usage are returned.', {
    max: 100,
    default: 20,
  })
  readonly limit?: number;
}

export class MeterTotalsQueryDto extends UsagePeriodDto {
  @WindowField() readonly window?: UsageInterval;
  @WindowZoneField() readonly time_zone?: string;
  @GroupByField() readonly group_by?: string;
  @LimitField(
    'With `group_by`: maximum number of groups, those with the largest values in the whole period. The others are added up.',
    { max: 20, default: DEFAULT_TOP },
  )
  readonly top?: number;
}

export class MeterUsageQueryDto extends MeterPeriodDto {
  @WindowField() readonly window?: UsageInterval;
  @WindowZoneField() readonly time_zone?: string;
  @GroupByField() readonly group_by?: string;
}

export function toPeriod(query: UsagePeriodDto): Period {
  return { startAt: new Date(query.from), endAt: new Date(query.to) };
}

/** Returns the properties of a comma-separated `group_by`, without duplicates. */
export function toGroupBy(text: string | undefined): readonly string[] {
  return text === undefined ? [] : [...new Set(text.split(','))];
}
