import type { Type } from '@nestjs/common';
import type { ListSummary } from '../database';
import { IntegerProperty, NestedListProperty, TextProperty } from './properties';

const AS_TEXT =
  'In whole minor units, as a string, because a sum can exceed the range of exact JSON numbers.';

/** Summary of the rows of one currency. {@link summaryOf} adds a field for each sum. */
interface CurrencySummaryDto {
  readonly currency: string | null;
  readonly count: number;
}

export interface SummaryDto {
  readonly count: number;
  readonly currencies: readonly CurrencySummaryDto[];
}

/**
 * Returns the OpenAPI class of the summary of a list.
 * @param sums name and description of each sum, such as the sum of invoice totals
 */
export function summaryOf(
  resource: string,
  sums: Readonly<Record<string, string>>,
): Type<SummaryDto> {
  class CurrencyDto implements CurrencySummaryDto {
    @TextProperty('ISO 4217; null for rows without a currency.', 'EUR', { nullable: true })
    readonly currency!: string | null;
    @IntegerProperty('Number of rows in this currency.', 12) readonly count!: number;
  }
  for (const [name, description] of Object.entries(sums)) {
    TextProperty(`${description} ${AS_TEXT}`, '59500')(CurrencyDto.prototype, name);
  }
  class ListSummaryDto implements SummaryDto {
    @IntegerProperty('Number of matching rows.', 12) readonly count!: number;
    @NestedListProperty(CurrencyDto, 'Numbers and sums by currency.')
    readonly currencies!: readonly CurrencyDto[];
  }
  Object.defineProperty(CurrencyDto, 'name', { value: `${resource}CurrencySummaryDto` });
  Object.defineProperty(ListSummaryDto, 'name', { value: `${resource}SummaryDto` });
  return ListSummaryDto;
}

export function toSummaryDto(rows: readonly ListSummary[]): SummaryDto {
  return {
    count: rows.reduce((sum, { count }) => sum + count, 0),
    currencies: rows.map(({ currency, count, sums }) => ({ currency, count, ...sums })),
  };
}
