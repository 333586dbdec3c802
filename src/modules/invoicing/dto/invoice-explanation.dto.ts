import {
  BooleanProperty,
  EnumProperty,
  IntegerProperty,
  NestedListProperty,
  NestedProperty,
  pageOf,
  TextProperty,
  mapperTo,
  toPageDto,
  toWireAmount,
} from '../../../platform/http';
import { amountRemaining, INVOICE_STATUSES, type InvoiceStatus } from '../domain/invoice';
import type { ExplainedInvoice } from '../line-usage.service';
import { ExplanationDto, toExplanationDto } from './explanation.dto';
import { InvoiceTaxDto, TAX_NOTES, toInvoiceTaxDto, toTaxNote } from './invoice.dto';

class ExplainedTotalsDto {
  @IntegerProperty('Sum of the lines, in minor units.', 5000) readonly subtotal!: number;
  @IntegerProperty('Taken off by coupons.', 500) readonly discount!: number;
  @IntegerProperty('Tax on top of the lines.', 855) readonly tax!: number;
  @IntegerProperty('Tax within the lines.', 0) readonly inclusive_tax!: number;
  @IntegerProperty('`subtotal - discount + tax`.', 5355) readonly total!: number;
  @IntegerProperty('Paid from the credit balance.', 355) readonly credit_applied!: number;
  @IntegerProperty('A negative total, given as credit.', 0)
  readonly credited_to_balance!: number;
  @IntegerProperty('`total - credit_applied + credited_to_balance`.', 5000)
  readonly amount_due!: number;
}

class ExplainedDiscountDto {
  @TextProperty('Redemption of the coupon.', 'red_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @TextProperty('Percentage of the coupon; null for an amount coupon.', '10', { nullable: true })
  readonly percent_off!: string | null;
  @IntegerProperty(
    'Minor units that the coupon could take off; null for a percentage coupon.',
    null,
    {
      nullable: true,
    },
  )
  readonly amount_off!: number | null;
  @IntegerProperty('Minor units that the coupon took off.', 500) readonly amount!: number;
}

class ExplainedCreditDto {
  @TextProperty(
    'Invoice, credit note or payment that the credit comes from.',
    'cn_01h455vb4pex5vsknk084sn02q',
    { nullable: true },
  )
  readonly source_id!: string | null;
  @IntegerProperty('Minor units of the credit that the invoice used.', 355)
  readonly amount!: number;
}

export class InvoiceExplanationDto extends pageOf(ExplanationDto) {
  @NestedListProperty(ExplanationDto, 'Lines of this page, in the order of the invoice.')
  override readonly data!: readonly ExplanationDto[];
  @TextProperty('The invoice.', 'inv_01h455vb4pex5vsknk084sn02q') readonly invoice_id!: string;
  @EnumProperty(
    INVOICE_STATUSES,
    'Status of the invoice. Nothing is owed on a void invoice; the credit that it used was returned.',
    'open',
  )
  readonly status!: InvoiceStatus;
  @TextProperty('ISO 4217 currency of all amounts.', 'EUR') readonly currency!: string;
  @NestedProperty(ExplainedTotalsDto, 'Totals as they are stored.')
  readonly stored!: ExplainedTotalsDto;
  @NestedProperty(
    ExplainedTotalsDto,
    'Totals that the same functions calculate again from the stored lines, coupons, rates and credits.',
  )
  readonly evaluated!: ExplainedTotalsDto;
  @BooleanProperty(
    'True if all evaluated amounts (totals, lines, coupons, rates) equal the stored ones, and the usage of the lines of this ' +
      'page does not differ from its events.',
    true,
  )
  readonly matches!: boolean;
  @NestedListProperty(
    ExplainedDiscountDto,
    'Coupons by time of redemption. Percentages are taken off first, then amounts. Coupons of earlier bills that discount late usage come last.',
  )
  readonly discounts!: readonly ExplainedDiscountDto[];
  @NestedListProperty(InvoiceTaxDto, 'Tax by rate.') readonly taxes!: readonly InvoiceTaxDto[];
  @EnumProperty(TAX_NOTES, 'Why there is no tax.', null, { nullable: true })
  readonly tax_note!: string | null;
  @NestedListProperty(ExplainedCreditDto, 'Credit that the invoice used, oldest first.')
  readonly credits!: readonly ExplainedCreditDto[];
  @IntegerProperty('Paid so far, in minor units.', 0) readonly amount_paid!: number;
  @IntegerProperty('Credited by credit notes or later invoices.', 0)
  readonly amount_credited!: number;
  @IntegerProperty('`amount_due - amount_paid - amount_credited`.', 5000)
  readonly amount_remaining!: number;
}

export function toInvoiceExplanationDto({
  invoice,
  evaluated,
  matches,
  creditSources,
  page,
}: ExplainedInvoice): InvoiceExplanationDto {
  return {
    ...toPageDto(page, toExplanationDto),
    invoice_id: invoice.id,
    status: invoice.status,
    currency: invoice.currency,
    stored: toTotalsDto(invoice),
    evaluated: toTotalsDto(evaluated),
    matches,
    discounts: invoice.coupons.map(({ redemptionId, percentOff, amountOffMinor, amountMinor }) => ({
      id: redemptionId,
      percent_off: percentOff,
      amount_off: amountOffMinor === null ? null : toWireAmount(amountOffMinor),
      amount: toWireAmount(amountMinor),
    })),
    taxes: invoice.taxRates.map(toInvoiceTaxDto),
    tax_note: toTaxNote(invoice),
    credits: invoice.credits.map(({ creditId, amountMinor }) => ({
      source_id: creditSources.get(creditId) ?? null,
      amount: toWireAmount(amountMinor),
    })),
    amount_paid: toWireAmount(invoice.amountPaid),
    amount_credited: toWireAmount(invoice.amountCredited),
    amount_remaining: toWireAmount(amountRemaining(invoice)),
  };
}

const toTotalsDto = mapperTo(ExplainedTotalsDto);
