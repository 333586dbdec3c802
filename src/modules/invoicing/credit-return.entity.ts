import { Check, Entity, Index } from 'typeorm';
import { AmountColumn, IdColumn, ReferenceColumn } from '../../platform/database';

/**
 * Part of a credit note's credit that the customer did not get. The credited invoice was paid with credit from a
 * payment, but the money of that payment was refunded, is being refunded, or was lost in a dispute. So the invoice
 * counts as having used less of the payment's credit, by this amount.
 */
@Entity('credit_return')
@Index('credit_return_invoice_index', ['invoiceId', 'paymentId'])
@Check('credit_return_amount_check', `"amount" > 0`)
export class CreditReturnEntity {
  @IdColumn({ to: 'CreditNoteEntity' }) readonly noteId!: string;
  /** Has no foreign key, because payments belong to a higher module. */
  @IdColumn() readonly paymentId!: string;
  /** The invoice that the note credits. */
  @ReferenceColumn({ to: 'InvoiceEntity' }) readonly invoiceId!: string;
  @AmountColumn() readonly amount!: bigint;
}
