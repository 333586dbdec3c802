import { ApiProperty } from '@nestjs/swagger';
import { IdProperty, InstantProperty, toWireAmount, toWireInstant } from '../../../platform/http';
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
  @ApiProperty({ type: 'integer', description: 'Dates or seconds billed.', example: 16 })
  readonly numerator!: number;

  @ApiProperty({ type: 'integer', description: 'Those of the full period.', example: 31 })
  readonly denominator!: number;

  @ApiProperty({
    enum: ['day', 'second'],
    description: 'Local dates, or elapsed seconds.',
    example: 'day',
  })
  readonly unit!: string;
}

export class InvoiceLineDto {
  @IdProperty('il_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ enum: LINE_TYPES, description: 'What the line is for.', example: 'recurring' })
  readonly type!: string;

  @ApiProperty({ description: 'For people.', example: 'Seats' })
  readonly description!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Units, as a decimal string; null where nothing is counted.',
    example: '5',
  })
  readonly quantity!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Minor units for one unit or package, as a decimal string; null where tiers decide.',
    example: '1000',
  })
  readonly unit_amount!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'Minor units before discount and tax; negative for a credit.',
    example: 5000,
  })
  readonly amount!: number;

  @ApiProperty({ type: 'integer', description: 'Taken off by coupons.', example: 0 })
  readonly discount!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Tax of the line, on top of it or within it.',
    example: 950,
  })
  readonly tax!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The price that was billed.',
    example: 'price_01h455vb4pex5vsknk084sn02q',
  })
  readonly price_id!: string | null;

  @InstantProperty('First instant of what is billed.', { nullable: true })
  readonly period_start!: string | null;

  @InstantProperty('End of what is billed, exclusive.', { nullable: true })
  readonly period_end!: string | null;

  @ApiProperty({
    type: ProrationDto,
    nullable: true,
    description: 'The part of a full period; null for a full one.',
  })
  readonly proration!: ProrationDto | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The line whose unused part this one takes back.',
    example: null,
  })
  readonly credits_line_id!: string | null;
}

export function toInvoiceLineDto(line: InvoiceLine): InvoiceLineDto {
  return {
    id: line.id,
    type: line.kind,
    description: line.description,
    quantity: line.quantity,
    unit_amount: line.unitAmount,
    amount: toWireAmount(line.amount),
    discount: toWireAmount(line.discount),
    tax: toWireAmount(line.tax),
    price_id: line.priceId,
    period_start: toWireInstant(line.period?.startAt ?? null),
    period_end: toWireInstant(line.period?.endAt ?? null),
    proration:
      line.proration === null
        ? null
        : {
            numerator: Number(line.proration.numerator),
            denominator: Number(line.proration.denominator),
            unit: line.proration.unit,
          },
    credits_line_id: line.creditsLineId,
  };
}
