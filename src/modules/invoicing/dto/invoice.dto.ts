import {
  ActorProperty,
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MetadataProperty,
  NestedListProperty,
  TextProperty,
  toDto,
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
  type InvoiceTaxRate,
} from '../domain/invoice';
import { printedTaxTreatment } from '../domain/own-terms';
import { InvoiceLineDto, toInvoiceLineDto } from './invoice-line.dto';

export const TAX_NOTES = ['exempt', 'reverse_charge'] as const;

export class InvoiceTaxDto {
  @TextProperty('The rate.', 'txr_01h455vb4pex5vsknk084sn02q') readonly tax_rate_id!: string;
  @TextProperty('Name of the rate.', 'VAT') readonly name!: string;
  @TextProperty('Percent, as a decimal string.', '19') readonly percentage!: string;
  @BooleanProperty('True if line amounts include the tax.', false)
  readonly inclusive!: boolean;
  @IntegerProperty('Taxed net amount, rounded.', 5000) readonly taxable!: number;
  @IntegerProperty('Tax at this rate.', 950) readonly tax!: number;
}

export class InvoicePreviewDto {
  @TextProperty('From a gapless series; null for a draft.', 'INV-000042', { nullable: true })
  readonly number!: string | null;
  @EnumProperty(INVOICE_STATUSES, 'Status of the invoice.', 'open') readonly status!: InvoiceStatus;
  @EnumProperty(INVOICE_REASONS, 'Billing reason of the invoice.', 'renewal')
  readonly reason!: InvoiceReason;
  @TextProperty('Customer who owes the invoice.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty(
    'Subscription that the invoice bills; null for a one-off invoice.',
    'sub_01h455vb4pex5vsknk084sn02q',
    { nullable: true },
  )
  readonly subscription_id!: string | null;
  @TextProperty('The void invoice that this one regenerates.', null, { nullable: true })
  readonly reissue_of!: string | null;
  @TextProperty('ISO 4217 currency of all amounts.', 'EUR') readonly currency!: string;
  @InstantProperty('Start of the period billed in advance, or else in arrears.', {
    nullable: true,
  })
  readonly period_start!: string | null;
  @InstantProperty('End of that period, exclusive.', {
    nullable: true,
    example: '2026-04-01T09:30:00.000Z',
  })
  readonly period_end!: string | null;
  @IntegerProperty('Sum of the lines, in minor units.', 5000) readonly subtotal!: number;
  @IntegerProperty('Taken off by coupons.', 0) readonly discount!: number;
  @IntegerProperty('Tax on top of the lines.', 950) readonly tax!: number;
  @IntegerProperty('Tax within the lines.', 0) readonly inclusive_tax!: number;
  @IntegerProperty('`subtotal - discount + tax`.', 5950) readonly total!: number;
  @IntegerProperty('Paid from the credit balance.', 0) readonly credit_applied!: number;
  @IntegerProperty('A negative total, given as credit.', 0)
  readonly credited_to_balance!: number;
  @IntegerProperty('To be paid.', 5950) readonly amount_due!: number;
  @IntegerProperty('Paid so far.', 0) readonly amount_paid!: number;
  @IntegerProperty('Credited by credit notes or later invoices.', 0)
  readonly amount_credited!: number;
  @IntegerProperty('Still to be paid.', 5950) readonly amount_remaining!: number;
  @IntegerProperty(
    'Reserved by pending payments. Exceeds `amount_remaining` only if a charge missing from a restored backup was found.',
    0,
  )
  readonly amount_pending!: number;
  @NestedListProperty(InvoiceTaxDto, 'Tax by rate.') readonly taxes!: readonly InvoiceTaxDto[];
  @EnumProperty(TAX_NOTES, 'Why there is no tax.', null, { nullable: true })
  readonly tax_note!: string | null;
  @EnumProperty(COLLECTIONS, 'How it is paid.', 'automatic') readonly collection!: Collection;
  @InstantProperty('When it is to be paid; null for a draft.', { nullable: true })
  readonly due_at!: string | null;
  @NestedListProperty(InvoiceLineDto, 'Lines of the invoice.')
  readonly lines!: readonly InvoiceLineDto[];
  @MetadataProperty() readonly metadata!: object;
}

export class InvoiceDto extends InvoicePreviewDto {
  @IdProperty('inv_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @InstantProperty(
    'When the grace period of a draft ends and it is finalized automatically; null for other drafts and finalized invoices.',
    { nullable: true, example: null },
  )
  readonly finalizes_at!: string | null;
  @InstantProperty('When it got its number.', { nullable: true })
  readonly finalized_at!: string | null;
  @IntegerProperty('Number of attempts to charge the default payment method.', 0)
  readonly attempt_count!: number;
  @InstantProperty(
    'When it is charged next, unless a pending payment covers all of it by then; null if no charge is planned.',
    { nullable: true, example: null },
  )
  readonly next_attempt_at!: string | null;
  @InstantProperty('When it was found to be due and not paid.', { nullable: true, example: null })
  readonly overdue_at!: string | null;
  @InstantProperty('When nothing was left to pay.', { nullable: true, example: null })
  readonly paid_at!: string | null;
  @InstantProperty('When it was declared void.', { nullable: true, example: null })
  readonly voided_at!: string | null;
  @ActorProperty('Who declared it void', { nullable: true, example: null }) readonly voided_by!:
    string | null;
  @InstantProperty('When it was written off.', { nullable: true, example: null })
  readonly uncollectible_at!: string | null;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toInvoicePreviewDto(invoice: Invoice): InvoicePreviewDto {
  return toDto(InvoicePreviewDto, { ...invoice, ...computedFields(invoice) });
}

export function toInvoiceDto(invoice: Invoice): InvoiceDto {
  const nextAttemptAt = invoice.status === 'open' ? invoice.collectAt : null;
  return toDto(InvoiceDto, { ...invoice, ...computedFields(invoice), nextAttemptAt });
}

function computedFields(invoice: Invoice) {
  return {
    reissueOf: invoice.reissueOfId,
    periodStart: invoice.periodStartAt,
    periodEnd: invoice.periodEndAt,
    amountRemaining: amountRemaining(invoice),
    taxes: invoice.taxRates.map(toInvoiceTaxDto),
    taxNote: toTaxNote(invoice),
    lines: invoice.lines.map(toInvoiceLineDto),
  };
}

export function toInvoiceTaxDto(rate: InvoiceTaxRate): InvoiceTaxDto {
  return toDto(InvoiceTaxDto, { ...rate, taxable: rate.taxableMinor, tax: rate.taxMinor });
}

export function toTaxNote(invoice: Invoice): string | null {
  switch (printedTaxTreatment(invoice)) {
    case 'none':
      return null;
    case 'exempt':
      return 'exempt';
    case 'reverse':
      return 'reverse_charge';
  }
}
