import {
  IdProperty,
  InstantProperty,
  IntegerProperty,
  TextProperty,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import { creditChangeOf, type PostedTransaction } from '../domain/posted-transaction';

export class CreditBalanceTransactionDto {
  @IdProperty('ltx_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @IdProperty('cus_01h455vb4pex5vsknk084sn02q') readonly customer_id!: string;
  @TextProperty('Kind of the ledger transaction that changed the balance.', 'invoice_finalized')
  readonly type!: string;
  @IntegerProperty(
    'Change of the balance in minor units: positive adds credit, negative uses it.',
    -1500,
  )
  readonly amount!: number;
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @TextProperty(
    'The invoice, credit note, payment or refund that changed the balance.',
    'inv_01h455vb4pex5vsknk084sn02q',
  )
  readonly source_id!: string;
  @InstantProperty('When it happened, on the customer’s clock.') readonly occurred_at!: string;
}

export function toCreditBalanceTransactionDto(
  transaction: PostedTransaction,
): CreditBalanceTransactionDto {
  const { id, customerId, kind, currency, sourceId, occurredAt } = transaction;
  return {
    id,
    customer_id: customerId,
    type: kind,
    amount: toWireAmount(creditChangeOf(transaction)),
    currency,
    source_id: sourceId,
    occurred_at: toWireInstant(occurredAt),
  };
}
