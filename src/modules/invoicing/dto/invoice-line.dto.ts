import {
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  NestedProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import type { InvoiceLine } from '../domain/invoice';

const LINE_TYPES = [
  'recurring',
  'usage',
  'proration',
  'one_off',
  'credit',
  'minimum',
  'maximum',
] as const;

export class ProrationDto {
  @IntegerProperty('Days or seconds billed.', 16) readonly numerator!: number;
  @IntegerProperty('Days or seconds of the full period.', 31) readonly denominator!: number;
  @EnumProperty(['day', 'second'], 'Local dates, or elapsed seconds.', 'day')
  readonly unit!: string;
}

export class InvoiceLineDto {
  @IdProperty('il_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @EnumProperty(LINE_TYPES, 'What the line is for.', 'recurring') readonly type!: string;
  @TextProperty('Display text.', 'Seats') readonly description!: string;
  @TextProperty('Units, as a decimal string; null where nothing is counted.', '5', {
    nullable: true,
  })
  readonly quantity!: string | null;
  @TextProperty(
    'Minor units for one unit or package, as a decimal string; null where tiers decide.',
    '1000',
    { nullable: true },
  )
  readonly unit_amount!: string | null;
  @IntegerProperty('Minor units before discount and tax; negative for a credit.', 5000)
  readonly amount!: number;
  @IntegerProperty('Taken off by coupons.', 0) readonly discount!: number;
  @IntegerProperty('Tax of the line, on top of it or within it.', 950) readonly tax!: number;
  @TextProperty('The price that was billed.', 'price_01h455vb4pex5vsknk084sn02q', {
    nullable: true,
  })
  readonly price_id!: string | null;
  @InstantProperty('First instant of what is billed.', { nullable: true })
  readonly period_start!: string | null;
  @InstantProperty('End of what is billed, exclusive.', {
    nullable: true,
    example: '2026-04-01T09:30:00.000Z',
  })
  readonly period_end!: string | null;
  @NestedProperty(
    ProrationDto,
    'Billed part of a full period; null: all of it. Usage is not prorated, except a fee due for a quantity of 0 or less.',
    {
      nullable: true,
    },
  )
  readonly proration!: ProrationDto | null;
  @TextProperty('The line whose unused part this one takes back.', null, { nullable: true })
  readonly credits_line_id!: string | null;
}

export function toInvoiceLineDto(line: InvoiceLine): InvoiceLineDto {
  return toDto(InvoiceLineDto, {
    ...line,
    type: line.kind,
    periodStart: line.period?.startAt ?? null,
    periodEnd: line.period?.endAt ?? null,
    proration:
      line.proration === null
        ? null
        : {
            numerator: Number(line.proration.numerator),
            denominator: Number(line.proration.denominator),
            unit: line.proration.unit,
          },
  });
}
