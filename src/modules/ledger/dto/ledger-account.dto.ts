import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, Omittable } from '../../../platform/http';
import type { AccountBalance } from '../domain/posted-transaction';

export class ListLedgerAccountsDto {
  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only postings for this customer.' })
  readonly customer_id?: string;
}

export class LedgerAccountDto {
  @ApiProperty({
    description: 'Account. There is one cash clearing account per payment provider.',
    example: 'accounts_receivable',
  })
  readonly account!: string;

  @ApiProperty({ description: 'ISO 4217.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({
    description:
      'Debits minus credits in whole minor units, as a string, because a sum can exceed the range of exact JSON numbers.',
    example: '120000',
  })
  readonly balance!: string;
}

export class LedgerAccountsDto {
  @ApiProperty({
    type: [LedgerAccountDto],
    description: 'Every account with postings, by currency.',
  })
  readonly data!: readonly LedgerAccountDto[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Always null: all accounts fit on one page.',
    example: null,
  })
  readonly next_cursor!: null;
}

export function toLedgerAccountsDto(balances: readonly AccountBalance[]): LedgerAccountsDto {
  const data = balances.map(({ account, currency, amountMinor }) => ({
    account,
    currency,
    balance: amountMinor.toString(),
  }));
  return { data, next_cursor: null };
}
