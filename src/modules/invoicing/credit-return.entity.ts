import { Check, Entity, Index } from 'typeorm';
import { AmountColumn, IdColumn, ReferenceColumn } from '../../platform/database';

/**
 * Amount that was moved from the credit of a credit note to the credit of a payment, because the money of the payment
 * had gone back to the customer. The credited invoice had used credit of the payment, and now uses less of it by this
 * amount.
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
