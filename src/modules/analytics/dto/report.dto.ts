import {
  CurrencyField,
  EnumField,
  FromField,
  InstantProperty,
  TextProperty,
  TimeZoneField,
  ToField,
  toInstantRange,
  toWireInstant,
} from '../../../platform/http';
import type { Period } from '../../../core/time';
import { REPORT_INTERVALS, type ReportInterval, type ReportRange } from '../report-windows';

export const AS_TEXT =
  'In whole minor units, as a string, because a sum can exceed the range of exact JSON numbers.';

const DEFAULT_TIME_ZONE = 'UTC';

export class ReportQueryDto {
  @FromField('of the report, by default the start of the month a year before `to`')
  readonly from?: string;
  @ToField('of the report, by default now') readonly to?: string;
  @EnumField(REPORT_INTERVALS, 'Length of the windows, which are cut at `from` and `to`.', {
    optional: true,
    default: 'month',
  })
  readonly interval?: ReportInterval;
  @TimeZoneField('IANA time zone of the days, weeks (from Monday) and months of the windows.', {
    optional: true,
    default: DEFAULT_TIME_ZONE,
    example: 'Europe/Paris',
  })
  readonly time_zone?: string;
  @CurrencyField('Only this currency.', { optional: true, example: 'EUR' })
  readonly currency?: string;
}

export class ReportDto {
  @InstantProperty('Start of the period, inclusive.') readonly from!: string;
  @InstantProperty('End of the period, exclusive.', { example: '2026-04-01T09:30:00.000Z' })
  readonly to!: string;
}

export class ReportWindowDto {
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @InstantProperty('Start of the window, inclusive.') readonly window_start!: string;
  @InstantProperty('End of the window, exclusive.', { example: '2026-04-01T09:30:00.000Z' })
  readonly window_end!: string;
}

export function toReportRange(query: ReportQueryDto): ReportRange {
  return {
    ...toInstantRange(query.from, query.to),
    interval: query.interval ?? 'month',
    timeZone: query.time_zone ?? DEFAULT_TIME_ZONE,
  };
}

export function toReportDto({ startAt, endAt }: Period): ReportDto {
  return { from: toWireInstant(startAt), to: toWireInstant(endAt) };
}

export function toReportWindowDto(row: {
  readonly currency: string;
  readonly period: Period;
}): ReportWindowDto {
  return {
    currency: row.currency,
    window_start: toWireInstant(row.period.startAt),
    window_end: toWireInstant(row.period.endAt),
  };
}
