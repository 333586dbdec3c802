import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, Omittable } from '../../../platform/http';
import type { AccountBalance } from '../domain/posted-transaction';

export class ListLedgerAccountsDto {
  @Omittable()
  @IsText(1, 40)
  @ApiPropertyOptional({ description: 'Only what was posted for this customer.' })
  readonly customer_id?: string;
}

export class LedgerAccountDto {
  @ApiProperty({
    description: 'The account; cash clearing is one for each payment provider.',
    example: 'accounts_receivable',
  })
  readonly account!: string;

  @ApiProperty({ description: 'ISO 4217.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({
    description:
      'Debits less credits in whole minor units, as text: a sum can be beyond what a JSON number holds.',
    example: '120000',
  })
  readonly balance!: string;
}

export class LedgerAccountsDto {
  @ApiProperty({
    type: [LedgerAccountDto],
    description: 'Every account that was posted to, by currency.',
  })
  readonly data!: readonly LedgerAccountDto[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Always null: there are few accounts.',
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
