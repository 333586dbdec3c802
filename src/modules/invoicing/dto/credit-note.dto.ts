import {
  ActorProperty,
  CurrencyField,
  EnumField,
  EnumListFilter,
  EnumProperty,
  FromField,
  IdField,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  MinAmountField,
  MinorUnitsField,
  MaxAmountField,
  NestedListField,
  NestedListProperty,
  ReferenceFilter,
  TextField,
  TextProperty,
  toAmountRange,
  toDto,
  ToField,
  toInstantRange,
  toWireAmount,
  summaryOf,
  WithPaging,
} from '../../../platform/http';
import { ExpandCustomerField } from '../../customers';
import {
  CREDIT_NOTE_STATUSES,
  type CreditNote,
  type CreditNoteFilter,
  type CreditNoteRequest,
  type CreditNoteStatus,
  SETTLEMENTS,
  type Settlement,
} from '../domain/credit-note';

const LONGEST_REASON = 500;
const MAX_LINES = 100;

export class CreditLineInputDto {
  @IdField('il', 'The line.', { example: 'il_01h455vb4pex5vsknk084sn02q' })
  readonly invoice_line_id!: string;
  @MinorUnitsField(
    0,
    'Net minor units to credit; the tax on them is credited too. 0 if only tax is left on the line.',
    { example: 500 },
  )
  readonly amount!: number;
}

export class CreateCreditNoteDto {
  @IdField('inv', 'The invoice.', { example: 'inv_01h455vb4pex5vsknk084sn02q' })
  readonly invoice_id!: string;
  @NestedListField(CreditLineInputDto, 'Lines to credit, each once.', {
    min: 1,
    max: MAX_LINES,
  })
  readonly lines!: readonly CreditLineInputDto[];
  @TextField('Free text.', { max: LONGEST_REASON, example: 'Two days without service' })
  readonly reason!: string;
  @EnumField(
    SETTLEMENTS,
    'How the part that the invoice no longer owes is settled: as customer credit, or as a refund to be made on the payment.',
    { example: 'credit' },
  )
  readonly settle!: Settlement;
}

export function toCreditNoteRequest(dto: CreateCreditNoteDto): CreditNoteRequest {
  return {
    invoiceId: dto.invoice_id,
    lines: dto.lines.map(toCreditedLine),
    reason: dto.reason,
    settle: dto.settle,
    pointer: '',
  };
}

export function toCreditedLine({
  invoice_line_id: lineId,
  amount,
}: CreditLineInputDto): CreditNoteRequest['lines'][number] {
  return { lineId, netMinor: BigInt(amount) };
}

export class CreditNoteFilterDto {
  @ReferenceFilter('Only the credit notes of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only the credit notes of this invoice.') readonly invoice_id?: string;
  @EnumListFilter(CREDIT_NOTE_STATUSES, 'Only credit notes with one of these statuses.')
  readonly status?: readonly CreditNoteStatus[];
  @CurrencyField('Only credit notes in this currency.', { optional: true, example: 'EUR' })
  readonly currency?: string;
  @MinAmountField('total') readonly total_min?: number;
  @MaxAmountField('total') readonly total_max?: number;
  @FromField('of creation') readonly created_from?: string;
  @ToField('of creation') readonly created_to?: string;
}

export class ListCreditNotesDto extends WithPaging(CreditNoteFilterDto) {
  @ExpandCustomerField() readonly expand?: readonly 'customer'[];
}

export function toCreditNoteFilter(query: CreditNoteFilterDto): CreditNoteFilter {
  return {
    customerId: query.customer_id ?? null,
    invoiceId: query.invoice_id ?? null,
    statuses: query.status ?? null,
    currency: query.currency ?? null,
    total: toAmountRange('total', query.currency, query.total_min, query.total_max),
    created: toInstantRange(query.created_from, query.created_to),
  };
}

export class CreditNoteLineDto {
  @TextProperty('The line.', 'il_01h455vb4pex5vsknk084sn02q') readonly invoice_line_id!: string;
  @IntegerProperty('Minor units, without tax.', 500) readonly amount!: number;
  @IntegerProperty('Credited tax of the line.', 95) readonly tax!: number;
}

export class CreditNoteDto {
  @IdProperty('cn_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('From a gapless series.', 'CN-000007') readonly number!: string;
  @EnumProperty(CREDIT_NOTE_STATUSES, 'Status of the credit note.', 'issued')
  readonly status!: string;
  @TextProperty('The invoice.', 'inv_01h455vb4pex5vsknk084sn02q') readonly invoice_id!: string;
  @TextProperty('The customer.', 'cus_01h455vb4pex5vsknk084sn02q') readonly customer_id!: string;
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @TextProperty('Free text.', 'Two days without service') readonly reason!: string;
  @EnumProperty(SETTLEMENTS, 'How `total - applied_to_invoice` is settled.', 'credit')
  readonly settle!: string;
  @IntegerProperty('Minor units, without tax.', 500) readonly net!: number;
  @IntegerProperty('Credited tax.', 95) readonly tax!: number;
  @IntegerProperty('`net + tax`.', 595) readonly total!: number;
  @IntegerProperty('Part that lowered the unpaid amount of the invoice.', 0)
  readonly applied_to_invoice!: number;
  @IntegerProperty('Given as credit.', 595) readonly credited_to_balance!: number;
  @IntegerProperty('To be refunded on the payment.', 0) readonly to_refund!: number;
  @NestedListProperty(CreditNoteLineDto, 'Credited lines.')
  readonly lines!: readonly CreditNoteLineDto[];
  @ActorProperty('Who issued it', { nullable: true }) readonly actor!: string | null;
  @InstantProperty('When it was declared void.', { nullable: true, example: null })
  readonly voided_at!: string | null;
  @ActorProperty('Who declared it void', { nullable: true, example: null }) readonly voided_by!:
    string | null;
  @InstantProperty('When it was issued.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toCreditNoteDto(note: CreditNote): CreditNoteDto {
  return toDto(CreditNoteDto, {
    ...note,
    appliedToInvoice: note.toReceivable,
    creditedToBalance: note.toCredit,
    lines: note.lines.map(({ lineId, netMinor, taxMinor }) => ({
      invoice_line_id: lineId,
      amount: toWireAmount(netMinor),
      tax: toWireAmount(taxMinor),
    })),
  });
}

export const CreditNoteSummaryDto = summaryOf('CreditNote', {
  total: 'Sum of the totals, including void credit notes.',
});
