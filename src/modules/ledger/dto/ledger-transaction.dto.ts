import type { LedgerTransaction } from '../../../core/ledger';
import {
  type CsvRows,
  CurrencyField,
  EnumListFilter,
  FromField,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  ListQueryDto,
  NestedListProperty,
  ReferenceFilter,
  TextField,
  TextProperty,
  toDto,
  ToField,
  toInstantRange,
} from '../../../platform/http';
import { ExpandCustomerField } from '../../customers';
import type { PostedTransaction, TransactionFilter } from '../domain/posted-transaction';

const TRANSACTION_KINDS: readonly LedgerTransaction['kind'][] = [
  'invoice_finalized',
  'payment',
  'refund',
  'credit_note',
  'void',
  'write_off',
  'recovery',
  'revenue_release',
  'credit_applied',
  'dispute_withdrawn',
  'dispute_reinstated',
  'dispute_lost',
];

export class ListLedgerTransactionsDto extends ListQueryDto {
  @ReferenceFilter('Only transactions of this customer.') readonly customer_id?: string;
  @ReferenceFilter('Only transactions of this invoice, payment or refund.')
  readonly source_id?: string;
  @TextField('Only transactions that post to this account.', {
    max: 60,
    optional: true,
    example: 'accounts_receivable',
  })
  readonly account?: string;
  @EnumListFilter(TRANSACTION_KINDS, 'Only transactions of these kinds.')
  readonly kind?: readonly LedgerTransaction['kind'][];
  @CurrencyField('Only transactions in this currency.', { optional: true, example: 'EUR' })
  readonly currency?: string;
  @FromField('of the posted changes') readonly occurred_from?: string;
  @ToField('of the posted changes') readonly occurred_to?: string;
  @ExpandCustomerField() readonly expand?: readonly 'customer'[];
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

/** CSV rows of a transaction: one for each posting, with its amount as a debit or a credit. */
export const POSTING_ROWS: CsvRows = {
  columns: ['account', 'debit', 'credit'],
  rowsOf: (item) =>
    (item as LedgerTransactionDto).postings.map(({ account, amount }) =>
      amount < 0 ? { account, credit: -amount } : { account, debit: amount },
    ),
};

export function toTransactionFilter(query: ListLedgerTransactionsDto): TransactionFilter {
  return {
    customerId: query.customer_id ?? null,
    sourceId: query.source_id ?? null,
    account: query.account ?? null,
    kinds: query.kind ?? null,
    currency: query.currency ?? null,
    occurred: toInstantRange(query.occurred_from, query.occurred_to),
  };
}

/**
 * Rounds amounts beyond +-(2^53-1) to about 16 digits. Earlier releases could post such amounts, and the list must
 * still show them. New invoices that would post them are refused with the error `invoice_too_large`.
 */
export function toLedgerTransactionDto(transaction: PostedTransaction): LedgerTransactionDto {
  return toDto(LedgerTransactionDto, {
    ...transaction,
    postings: transaction.postings.map(({ account, amountMinor }) => ({
      account,
      amount: Number(amountMinor),
    })),
  });
}
