import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  IsText,
  ListQueryDto,
  Omittable,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import type { PostedTransaction, TransactionFilter } from '../domain/posted-transaction';

export class ListLedgerTransactionsDto extends ListQueryDto {
  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only transactions of this customer.' })
  readonly customer_id?: string;

  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only transactions of this invoice, payment or refund.' })
  readonly source_id?: string;
}

export class LedgerPostingDto {
  @ApiProperty({
    description: 'Account. There is one cash clearing account per payment provider.',
    example: 'cash_clearing:sandbox',
  })
  readonly account!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Minor units; a debit is positive, a credit negative.',
    example: 10000,
  })
  readonly amount!: number;
}

export class LedgerTransactionDto {
  @IdProperty('ltx_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Kind of the transaction.', example: 'payment' })
  readonly kind!: string;

  @ApiProperty({
    description: 'Id of the invoice, payment or refund that posted the transaction.',
    example: 'pay_01h455vb4pex5vsknk084sn02q',
  })
  readonly source_id!: string;

  @ApiProperty({
    description: 'Id of the customer.',
    example: 'cus_01h455vb4pex5vsknk084sn02q',
  })
  readonly customer_id!: string;

  @ApiProperty({ description: 'ISO 4217; the currency of all postings.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({ type: [LedgerPostingDto], description: 'Postings, which sum to zero.' })
  readonly postings!: readonly LedgerPostingDto[];

  @InstantProperty('When the posted change happened.')
  readonly occurred_at!: string;
}

export function toTransactionFilter(query: ListLedgerTransactionsDto): TransactionFilter {
  return {
    customerId: query.customer_id ?? null,
    sourceId: query.source_id ?? null,
    account: null,
  };
}

export function toLedgerTransactionDto(transaction: PostedTransaction): LedgerTransactionDto {
  return {
    id: transaction.id,
    kind: transaction.kind,
    source_id: transaction.sourceId,
    customer_id: transaction.customerId,
    currency: transaction.currency,
    postings: transaction.postings.map(({ account, amountMinor }) => ({
      account,
      amount: toWireAmount(amountMinor),
    })),
    occurred_at: toWireInstant(transaction.occurredAt),
  };
}
