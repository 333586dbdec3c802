import { Check, Entity, Index } from 'typeorm';
import { AmountColumn, IdColumn, ReferenceColumn } from '../../platform/database';

/**
 * Credit of a credit note that returned to a payment, because the money of the payment had gone back. The credited
 * invoice had used that much credit of the payment, and has used it no longer.
 */
@Entity('credit_return')
@Index('credit_return_invoice_index', ['invoiceId', 'paymentId'])
@Check('credit_return_amount_check', `"amount" > 0`)
export class CreditReturnEntity {
  @IdColumn({ to: 'CreditNoteEntity' }) readonly noteId!: string;
  /** Has no foreign key, because payments belong to a higher module. */
  @IdColumn() readonly paymentId!: string;
  /** The invoice of the credit note. */
  @ReferenceColumn({ to: 'InvoiceEntity' }) readonly invoiceId!: string;
  @AmountColumn() readonly amount!: bigint;
}
