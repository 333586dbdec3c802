import {
  IdProperty,
  InstantProperty,
  IntegerProperty,
  ListQueryDto,
  NestedListProperty,
  ReferenceFilter,
  TextProperty,
  toDto,
  toWireAmount,
} from '../../../platform/http';
import type { PostedTransaction, TransactionFilter } from '../domain/posted-transaction';

export class ListLedgerTransactionsDto extends ListQueryDto {
  @ReferenceFilter('Only transactions of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only transactions of this invoice, payment or refund.')
  readonly source_id?: string;
}

export class LedgerPostingDto {
  @TextProperty(
    'Account. There is one cash clearing account per payment provider.',
    'cash_clearing:sandbox',
  )
  readonly account!: string;
  @IntegerProperty('Minor units; a debit is positive, a credit negative.', 10000)
  readonly amount!: number;
}

export class LedgerTransactionDto {
  @IdProperty('ltx_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Kind of the transaction.', 'payment') readonly kind!: string;
  @TextProperty(
    'Id of the invoice, payment or refund that posted the transaction.',
    'pay_01h455vb4pex5vsknk084sn02q',
  )
  readonly source_id!: string;
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('ISO 4217; the currency of all postings.', 'EUR') readonly currency!: string;
  @NestedListProperty(LedgerPostingDto, 'Postings, which sum to zero.')
  readonly postings!: readonly LedgerPostingDto[];
  @InstantProperty('When the posted change happened.') readonly occurred_at!: string;
}

export function toTransactionFilter(query: ListLedgerTransactionsDto): TransactionFilter {
  return {
    customerId: query.customer_id ?? null,
    sourceId: query.source_id ?? null,
    account: null,
  };
}

export function toLedgerTransactionDto(transaction: PostedTransaction): LedgerTransactionDto {
  return toDto(LedgerTransactionDto, {
    ...transaction,
    postings: transaction.postings.map(({ account, amountMinor }) => ({
      account,
      amount: toWireAmount(amountMinor),
    })),
  });
}
