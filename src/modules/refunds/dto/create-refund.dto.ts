import {
  HEADER_KEY_TEXT,
  MetadataField,
  MinorUnitsField,
  NestedField,
  NestedListField,
  PatternField,
  TextField,
} from '../../../platform/http';
import { CreditLineInputDto, toCreditedLine } from '../../invoicing';
import type { RefundNote, RefundRequest } from '../domain/refund';

export class RefundNoteDto {
  @NestedListField(CreditLineInputDto, 'Invoice lines to credit, each once.', {
    min: 1,
    max: 100,
  })
  readonly lines!: readonly CreditLineInputDto[];
  @TextField('Reason for people to read.', { max: 500, example: 'Two days without service' })
  readonly reason!: string;
}

export class CreateRefundDto {
  @MinorUnitsField(
    1,
    'Minor units of the payment’s currency. Left out: all that is refundable, or the part of the `credit_note` to be refunded.',
    { optional: true, example: 2_500 },
  )
  readonly amount?: number;
  @TextField('Free text.', { min: 0, max: 500, optional: true, example: 'Arrived broken' })
  readonly reason?: string;
  @NestedField(
    RefundNoteDto,
    'Issues a credit note on the invoice that the payment paid, in the same commit, so that revenue and tax are corrected. Needs the scope `invoices:write` as well.',
    { optional: true },
  )
  readonly credit_note?: RefundNoteDto;
  @PatternField(
    HEADER_KEY_TEXT,
    'must be 1 to 255 printable ASCII characters, without spaces at its ends',
    'Chosen by the client; the same as the `Idempotency-Key` header. The same key gives the same refund.',
    { optional: true, example: 'order-1042-refund-1' },
  )
  readonly idempotencyKey?: string;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

/** @param idempotencyKey key from the body or the header */
export function toRefundRequest(
  paymentId: string,
  dto: CreateRefundDto,
  idempotencyKey: string | null,
): RefundRequest {
  return {
    paymentId,
    amount: dto.amount === undefined ? null : BigInt(dto.amount),
    reason: dto.reason ?? null,
    creditNote: dto.credit_note === undefined ? null : toRefundNote(dto.credit_note),
    idempotencyKey,
    metadata: dto.metadata ?? {},
  };
}

function toRefundNote({ lines, reason }: RefundNoteDto): RefundNote {
  return { lines: lines.map(toCreditedLine), reason };
}
