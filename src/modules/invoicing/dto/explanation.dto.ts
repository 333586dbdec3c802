import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { formatExact, rational, subtract } from '../../../core/decimal';
import {
  BooleanProperty,
  InstantProperty,
  IntegerProperty,
  NestedListProperty,
  NestedProperty,
  TextProperty,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import { ArchivedMonthDto, toArchivedMonthDto } from '../../metering';
import type { ExplainedLine } from '../line-usage.service';
import { LINE_TRACES, type LineTraceDto, toLineTraceDto } from './line-trace.dto';
import { InvoiceLineDto, toInvoiceLineDto } from './invoice-line.dto';

export class ShareDto {
  @TextProperty('Id of the coupon redemption or tax rate.', 'red_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @IntegerProperty('Minor units.', 500) readonly amount!: number;
}

export class EvaluatedDto {
  @IntegerProperty('Amount from the trace.', 5000) readonly amount!: number;
  @IntegerProperty('Discount by coupons.', 500) readonly discount!: number;
  @IntegerProperty('Tax by the tax rates.', 855) readonly tax!: number;
}

@ApiExtraModels(...LINE_TRACES)
export class ExplanationDto {
  @NestedProperty(InvoiceLineDto, 'The line as it is stored.') readonly line!: InvoiceLineDto;
  @TextProperty('Name of the price that was billed; null for a line without one.', 'Seats', {
    nullable: true,
  })
  readonly price_name!: string | null;
  @ApiProperty({
    oneOf: LINE_TRACES.map((trace) => ({ $ref: getSchemaPath(trace) })),
    description:
      'How the amount was calculated, by `kind`: the price as it was, the tiers used, the quantity, the part of the period; for ' +
      'a credit, the line it takes back. For usage, events from `counted_from` to the end of `period` were counted; ' +
      '`events` in `parts` is how many of them lie in `period`.',
    example: { kind: 'fixed', amount: '4500' },
  })
  readonly trace!: LineTraceDto;
  @TextProperty(
    'Minor units before rounding, discount and tax: a decimal, or a fraction such as `67500/31`. Null for a credit and ' +
      'for late usage, which are shares of rounded amounts.',
    '4499.5',
    { nullable: true },
  )
  readonly exact_amount!: string | null;
  @TextProperty(
    'Minor units that rounding added to `exact_amount`, negative where it took some away. Each group of usage is rounded once, ' +
      'half away from zero.',
    '0.5',
    { nullable: true },
  )
  readonly rounding!: string | null;
  @TextProperty('IANA zone in which dates were counted.', 'Europe/Paris', { nullable: true })
  readonly time_zone!: string | null;
  @InstantProperty('Start of the full period; the line bills all or a part of it.', {
    nullable: true,
  })
  readonly full_period_start!: string | null;
  @InstantProperty('End of the full period, exclusive.', {
    nullable: true,
    example: '2026-04-01T09:30:00.000Z',
  })
  readonly full_period_end!: string | null;
  @NestedListProperty(ShareDto, 'What each coupon took off the line.')
  readonly discount_shares!: readonly ShareDto[];
  @NestedListProperty(ShareDto, 'Tax of the line at each rate.')
  readonly tax_shares!: readonly ShareDto[];
  @NestedProperty(
    EvaluatedDto,
    'Amounts that the same functions calculate again from the stored data.',
  )
  readonly evaluated!: EvaluatedDto;
  @NestedListProperty(
    ArchivedMonthDto,
    'Archived months with usage events of the line, oldest first. The line keeps the billed quantity.',
  )
  readonly archived!: readonly ArchivedMonthDto[];
  @BooleanProperty(
    'True if the stored usage events give the billed quantity. Null: not compared, because the line bills no usage or a ' +
      '`weighted_sum`, months are archived, or the period has more than 10,000 events.',
    true,
    { nullable: true },
  )
  readonly usage_matches!: boolean | null;
  @BooleanProperty('True if `evaluated` equals `line`, and `usage_matches` is not false.', true)
  readonly matches!: boolean;
}

export function toExplanationDto({
  line,
  priceName,
  exact,
  evaluated,
  archived,
  usageMatches,
  matches,
}: ExplainedLine): ExplanationDto {
  const rounding = exact === null ? null : subtract(rational(evaluated.amount), exact);
  return {
    line: toInvoiceLineDto(line),
    price_name: priceName,
    trace: toLineTraceDto(line.trace),
    exact_amount: exact === null ? null : formatExact(exact),
    rounding: rounding === null ? null : formatExact(rounding),
    time_zone: line.timeZone,
    full_period_start: toWireInstant(line.fullPeriod?.startAt ?? null),
    full_period_end: toWireInstant(line.fullPeriod?.endAt ?? null),
    discount_shares: line.discountShares.map(({ redemptionId, amountMinor }) => ({
      id: redemptionId,
      amount: toWireAmount(amountMinor),
    })),
    tax_shares: line.taxShares.map(({ taxRateId, taxMinor }) => ({
      id: taxRateId,
      amount: toWireAmount(taxMinor),
    })),
    evaluated: {
      amount: toWireAmount(evaluated.amount),
      discount: toWireAmount(evaluated.discount),
      tax: toWireAmount(evaluated.tax),
    },
    archived: archived.map(toArchivedMonthDto),
    usage_matches: usageMatches,
    matches,
  };
}
