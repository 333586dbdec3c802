import { ApiProperty } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import {
  amountRemaining,
  type Collection,
  COLLECTIONS,
  type Invoice,
  INVOICE_REASONS,
  INVOICE_STATUSES,
  type InvoiceReason,
  type InvoiceStatus,
} from '../domain/invoice';
import { InvoiceLineDto, toInvoiceLineDto } from './invoice-line.dto';

const TAX_NOTES = ['exempt', 'reverse_charge'] as const;

export class InvoiceTaxDto {
  @ApiProperty({ description: 'The rate.', example: 'txr_01h455vb4pex5vsknk084sn02q' })
  readonly tax_rate_id!: string;

  @ApiProperty({ description: 'What it is called.', example: 'VAT' })
  readonly name!: string;

  @ApiProperty({ description: 'Percent, as a decimal string.', example: '19' })
  readonly percentage!: string;

  @ApiProperty({ description: 'Whether the amounts of lines hold it already.', example: false })
  readonly inclusive!: boolean;

  @ApiProperty({ type: 'integer', description: 'What it is computed on.', example: 5000 })
  readonly taxable!: number;

  @ApiProperty({ type: 'integer', description: 'What it comes to.', example: 950 })
  readonly tax!: number;
}

const amount = (description: string, example: number): PropertyDecorator =>
  ApiProperty({ type: 'integer', description, example });

/** An invoice that was not made: it has no id and no number. */
export class InvoicePreviewDto {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Of a series without gaps; null for a draft.',
    example: 'INV-000042',
  })
  readonly number!: string | null;

  @ApiProperty({ enum: INVOICE_STATUSES, description: 'Where it stands.', example: 'open' })
  readonly status!: InvoiceStatus;

  @ApiProperty({ enum: INVOICE_REASONS, description: 'What it is for.', example: 'renewal' })
  readonly reason!: InvoiceReason;

  @ApiProperty({ description: 'Who owes it.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The subscription it bills; null for a one-off invoice.',
    example: 'sub_01h455vb4pex5vsknk084sn02q',
  })
  readonly subscription_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The void invoice that it bills anew.',
    example: null,
  })
  readonly reissue_of!: string | null;

  @ApiProperty({ description: 'ISO 4217; of all its amounts.', example: 'EUR' })
  readonly currency!: string;

  @InstantProperty('Start of the period billed in advance, else of the one billed in arrears.', {
    nullable: true,
  })
  readonly period_start!: string | null;

  @InstantProperty('End of that period, exclusive.', { nullable: true })
  readonly period_end!: string | null;

  @amount('Sum of the lines, in minor units.', 5000)
  readonly subtotal!: number;

  @amount('Taken off by coupons.', 0)
  readonly discount!: number;

  @amount('Tax on top of the lines.', 950)
  readonly tax!: number;

  @amount('Tax within the lines.', 0)
  readonly inclusive_tax!: number;

  @amount('`subtotal - discount + tax`.', 5950)
  readonly total!: number;

  @amount('Paid from the credit balance.', 0)
  readonly credit_applied!: number;

  @amount('What a negative total adds to the credit balance.', 0)
  readonly credited_to_balance!: number;

  @amount('To be paid.', 5950)
  readonly amount_due!: number;

  @amount('Paid so far.', 0)
  readonly amount_paid!: number;

  @amount('Taken off what is due by credit notes.', 0)
  readonly amount_credited!: number;

  @amount('Still to be paid.', 5950)
  readonly amount_remaining!: number;

  @amount('What payments under way have reserved of what is still to be paid.', 0)
  readonly amount_pending!: number;

  @ApiProperty({ type: [InvoiceTaxDto], description: 'Tax by rate.' })
  readonly taxes!: readonly InvoiceTaxDto[];

  @ApiProperty({
    enum: TAX_NOTES,
    nullable: true,
    description: 'Why there is no tax.',
    example: null,
  })
  readonly tax_note!: string | null;

  @ApiProperty({ enum: COLLECTIONS, description: 'How it is paid.', example: 'automatic' })
  readonly collection!: Collection;

  @InstantProperty('When it is to be paid; null for a draft.', { nullable: true })
  readonly due_at!: string | null;

  @ApiProperty({ type: [InvoiceLineDto], description: 'What it is for, line by line.' })
  readonly lines!: readonly InvoiceLineDto[];

  @MetadataProperty()
  readonly metadata!: object;
}

export class InvoiceDto extends InvoicePreviewDto {
  @IdProperty('inv_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @InstantProperty(
    'When a draft is finalised by itself, as the grace period of its customer says; null where somebody is to do it, and once it is done.',
    { nullable: true },
  )
  readonly finalizes_at!: string | null;

  @InstantProperty('When it got its number.', { nullable: true })
  readonly finalized_at!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'How often the customer’s default payment method was charged for it.',
    example: 0,
  })
  readonly attempt_count!: number;

  @InstantProperty(
    'When it is charged next, if no payment under way is to pay all of it by then; null where nothing is planned.',
    { nullable: true },
  )
  readonly next_attempt_at!: string | null;

  @InstantProperty('When it was found to be due and not paid.', { nullable: true })
  readonly overdue_at!: string | null;

  @InstantProperty('When nothing was left to pay.', { nullable: true })
  readonly paid_at!: string | null;

  @InstantProperty('When it was declared void.', { nullable: true })
  readonly voided_at!: string | null;

  @InstantProperty('When it was written off.', { nullable: true })
  readonly uncollectible_at!: string | null;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toInvoicePreviewDto(invoice: Invoice): InvoicePreviewDto {
  return {
    number: invoice.number,
    status: invoice.status,
    reason: invoice.reason,
    customer_id: invoice.customerId,
    subscription_id: invoice.subscriptionId,
    reissue_of: invoice.reissueOfId,
    currency: invoice.currency,
    period_start: toWireInstant(invoice.periodStartAt),
    period_end: toWireInstant(invoice.periodEndAt),
    subtotal: toWireAmount(invoice.subtotal),
    discount: toWireAmount(invoice.discount),
    tax: toWireAmount(invoice.tax),
    inclusive_tax: toWireAmount(invoice.inclusiveTax),
    total: toWireAmount(invoice.total),
    credit_applied: toWireAmount(invoice.creditApplied),
    credited_to_balance: toWireAmount(invoice.creditedToBalance),
    amount_due: toWireAmount(invoice.amountDue),
    amount_paid: toWireAmount(invoice.amountPaid),
    amount_credited: toWireAmount(invoice.amountCredited),
    amount_remaining: toWireAmount(amountRemaining(invoice)),
    amount_pending: toWireAmount(invoice.amountPending),
    taxes: invoice.taxRates.map((rate) => ({
      tax_rate_id: rate.taxRateId,
      name: rate.name,
      percentage: rate.percentage,
      inclusive: rate.inclusive,
      taxable: toWireAmount(rate.taxableMinor),
      tax: toWireAmount(rate.taxMinor),
    })),
    tax_note: taxNoteOf(invoice),
    collection: invoice.collection,
    due_at: toWireInstant(invoice.dueAt),
    lines: invoice.lines.map(toInvoiceLineDto),
    metadata: invoice.metadata,
  };
}

export function toInvoiceDto(invoice: Invoice): InvoiceDto {
  return {
    id: invoice.id,
    ...toInvoicePreviewDto(invoice),
    finalizes_at: toWireInstant(invoice.finalizesAt),
    finalized_at: toWireInstant(invoice.finalizedAt),
    attempt_count: invoice.attemptCount,
    next_attempt_at: toWireInstant(invoice.status === 'open' ? invoice.collectAt : null),
    overdue_at: toWireInstant(invoice.overdueAt),
    paid_at: toWireInstant(invoice.paidAt),
    voided_at: toWireInstant(invoice.voidedAt),
    uncollectible_at: toWireInstant(invoice.uncollectibleAt),
    created_at: toWireInstant(invoice.createdAt),
    updated_at: toWireInstant(invoice.updatedAt),
  };
}

function taxNoteOf({ taxTreatment }: Invoice): string | null {
  switch (taxTreatment) {
    case 'none':
      return null;
    case 'exempt':
      return 'exempt';
    case 'reverse':
      return 'reverse_charge';
  }
}
