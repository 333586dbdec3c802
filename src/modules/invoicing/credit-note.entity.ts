import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { CreditNoteLine } from '../../core/invoice';
import {
  AmountColumn,
  ExactJsonColumn,
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { CreditNote, CreditNoteStatus, Settlement } from './domain/credit-note';

@Entity('credit_note')
@Unique('credit_note_number_unique', ['number'])
@Index('credit_note_customer_index', ['customerId'])
@Index('credit_note_invoice_index', ['invoiceId', 'id'])
@Index('credit_note_status_index', ['status', 'id'])
@Index('credit_note_created_index', ['createdAt', 'id'])
@Index('credit_note_currency_index', ['currency', 'id'])
@Index('credit_note_currency_total_index', ['currency', 'total', 'id'])
@Check('credit_note_status_check', `"status" IN ('issued', 'void')`)
@Check('credit_note_void_check', `("status" = 'void') = ("voided_at" IS NOT NULL)`)
@Check('credit_note_settle_check', `"settle" IN ('credit', 'refund')`)
@Check(
  'credit_note_total_check',
  `"total" = "net" + "tax" AND "total" = "to_receivable" + "to_credit" + "to_refund" AND ("net" > 0 OR ("net" = 0 AND "tax" > 0))`,
)
@Check(
  'credit_note_parts_check',
  `"tax" >= 0 AND "to_receivable" >= 0 AND "to_credit" >= 0 AND "to_refund" >= 0 AND "deferred" >= 0 AND "deferred" <= "net"`,
)
@Check('credit_note_lines_check', `"lines" <> '[]'`)
export class CreditNoteEntity implements CreditNote {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 40 }) readonly number!: string;
  @Column({ type: 'varchar', length: 10 }) readonly status!: CreditNoteStatus;
  @ReferenceColumn({ to: 'InvoiceEntity' }) readonly invoiceId!: string;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @Column({ type: 'varchar', length: 500 }) readonly reason!: string;
  @Column({ type: 'varchar', length: 10 }) readonly settle!: Settlement;
  @AmountColumn() readonly net!: bigint;
  @AmountColumn() readonly tax!: bigint;
  @AmountColumn() readonly total!: bigint;
  @AmountColumn() readonly deferred!: bigint;
  @AmountColumn() readonly toReceivable!: bigint;
  @AmountColumn() readonly toCredit!: bigint;
  @AmountColumn() readonly toRefund!: bigint;
  @ReferenceColumn({ nullable: true }) readonly creditId!: string | null;
  @ExactJsonColumn() readonly lines!: readonly CreditNoteLine[];
  @ReferenceColumn({ nullable: true }) readonly actor!: string | null;
  @InstantColumn({ nullable: true }) readonly voidedAt!: Date | null;
  @ReferenceColumn({ nullable: true }) readonly voidedBy!: string | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
