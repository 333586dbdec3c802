import {
  InstantField,
  NestedListProperty,
  ReferenceFilter,
  TextProperty,
} from '../../../platform/http';
import type { AccountBalance } from '../domain/posted-transaction';

export class ListLedgerAccountsDto {
  @ReferenceFilter('Only postings for this customer.') readonly customer_id?: string;
  @InstantField(
    'Balances at this instant, such as the end of a month: only earlier transactions count.',
    { optional: true },
  )
  readonly at?: string;
}

export class LedgerAccountDto {
  @TextProperty(
    'Account. There is one cash clearing account per payment provider.',
    'accounts_receivable',
  )
  readonly account!: string;
  @TextProperty('ISO 4217.', 'EUR') readonly currency!: string;
  @TextProperty(
    'Debits minus credits in whole minor units, as a string, because a sum can exceed the range of exact JSON numbers.',
    '120000',
  )
  readonly balance!: string;
}

export class LedgerAccountsDto {
  @NestedListProperty(LedgerAccountDto, 'Every account with postings, by currency.')
  readonly data!: readonly LedgerAccountDto[];
  @TextProperty('Always null: all accounts fit on one page.', null, { nullable: true })
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
