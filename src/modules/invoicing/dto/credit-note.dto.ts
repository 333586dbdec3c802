import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsIn,
  IsObject,
  ValidateNested,
} from 'class-validator';
import {
  IdProperty,
  InstantProperty,
  IsIdOf,
  IsMinorUnits,
  IsText,
  ListQueryDto,
  Omittable,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import {
  CREDIT_NOTE_STATUSES,
  type CreditNote,
  type CreditNoteOrder,
  SETTLEMENTS,
  type Settlement,
} from '../domain/credit-note';

const LONGEST_REASON = 500;
const MOST_LINES = 100;

export class CreditLineInputDto {
  @IsIdOf('il')
  @ApiProperty({ description: 'The line.', example: 'il_01h455vb4pex5vsknk084sn02q' })
  readonly invoice_line_id!: string;

  @IsMinorUnits(1)
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'Minor units to take back, without tax; the tax that belongs to it comes with it.',
    example: 500,
  })
  readonly amount!: number;
}

export class CreateCreditNoteDto {
  @IsIdOf('inv')
  @ApiProperty({ description: 'The invoice.', example: 'inv_01h455vb4pex5vsknk084sn02q' })
  readonly invoice_id!: string;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MOST_LINES)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => CreditLineInputDto)
  @ApiProperty({
    type: [CreditLineInputDto],
    minItems: 1,
    maxItems: MOST_LINES,
    description: 'What is taken back, each line once.',
  })
  readonly lines!: readonly CreditLineInputDto[];

  @IsText(1, LONGEST_REASON)
  @ApiProperty({
    minLength: 1,
    maxLength: LONGEST_REASON,
    description: 'For people.',
    example: 'Two days without service',
  })
  readonly reason!: string;

  @IsIn(SETTLEMENTS)
  @ApiProperty({
    enum: SETTLEMENTS,
    description:
      'What becomes of the part that the invoice no longer owes: credit of the customer, or a refund, to be made on the payment.',
    example: 'credit',
  })
  readonly settle!: Settlement;
}

export function toCreditNoteOrder(dto: CreateCreditNoteDto): CreditNoteOrder {
  return {
    invoiceId: dto.invoice_id,
    lines: dto.lines.map(({ invoice_line_id: lineId, amount }) => ({
      lineId,
      netMinor: BigInt(amount),
    })),
    reason: dto.reason,
    settle: dto.settle,
  };
}

export class ListCreditNotesDto extends ListQueryDto {
  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only the credit notes of this invoice.' })
  readonly invoice_id?: string;
}

export class CreditNoteLineDto {
  @ApiProperty({ description: 'The line.', example: 'il_01h455vb4pex5vsknk084sn02q' })
  readonly invoice_line_id!: string;

  @ApiProperty({ type: 'integer', description: 'Minor units, without tax.', example: 500 })
  readonly amount!: number;

  @ApiProperty({ type: 'integer', description: 'The tax that belongs to it.', example: 95 })
  readonly tax!: number;
}

const amount = (description: string, example: number): PropertyDecorator =>
  ApiProperty({ type: 'integer', description, example });

export class CreditNoteDto {
  @IdProperty('cn_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Of a series without gaps.', example: 'CN-000007' })
  readonly number!: string;

  @ApiProperty({ enum: CREDIT_NOTE_STATUSES, description: 'Where it stands.', example: 'issued' })
  readonly status!: string;

  @ApiProperty({ description: 'The invoice.', example: 'inv_01h455vb4pex5vsknk084sn02q' })
  readonly invoice_id!: string;

  @ApiProperty({ description: 'The customer.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @ApiProperty({ description: 'ISO 4217.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({ description: 'For people.', example: 'Two days without service' })
  readonly reason!: string;

  @ApiProperty({ enum: SETTLEMENTS, description: 'How the rest is settled.', example: 'credit' })
  readonly settle!: string;

  @amount('Minor units, without tax.', 500)
  readonly net!: number;

  @amount('The tax that belongs to it.', 95)
  readonly tax!: number;

  @amount('`net + tax`.', 595)
  readonly total!: number;

  @amount('Taken off what the invoice still owed.', 0)
  readonly applied_to_invoice!: number;

  @amount('Given as credit.', 595)
  readonly credited_to_balance!: number;

  @amount('To be refunded on the payment.', 0)
  readonly to_refund!: number;

  @ApiProperty({ type: [CreditNoteLineDto], description: 'What is taken back, line by line.' })
  readonly lines!: readonly CreditNoteLineDto[];

  @InstantProperty('When it was declared void.', { nullable: true })
  readonly voided_at!: string | null;

  @InstantProperty('When it was issued.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toCreditNoteDto(note: CreditNote): CreditNoteDto {
  return {
    id: note.id,
    number: note.number,
    status: note.status,
    invoice_id: note.invoiceId,
    customer_id: note.customerId,
    currency: note.currency,
    reason: note.reason,
    settle: note.settle,
    net: toWireAmount(note.net),
    tax: toWireAmount(note.tax),
    total: toWireAmount(note.total),
    applied_to_invoice: toWireAmount(note.toReceivable),
    credited_to_balance: toWireAmount(note.toCredit),
    to_refund: toWireAmount(note.toRefund),
    lines: note.lines.map(({ lineId, netMinor, taxMinor }) => ({
      invoice_line_id: lineId,
      amount: toWireAmount(netMinor),
      tax: toWireAmount(taxMinor),
    })),
    voided_at: toWireInstant(note.voidedAt),
    created_at: toWireInstant(note.createdAt),
    updated_at: toWireInstant(note.updatedAt),
  };
}
