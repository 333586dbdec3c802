import type { Schemas } from '../api/client';

export type RevenueReportRow = Schemas['RevenueRowDto'];

/** Amounts of the report, in the order of its columns. */
export const REVENUE_AMOUNTS = [
  ['gross', 'Gross'],
  ['discounts', 'Discounts'],
  ['earned', 'Earned'],
  ['deferred', 'Deferred'],
  ['refunds', 'Refunds'],
  ['written_off', 'Written off'],
  ['tax', 'Tax'],
] as const;

type Amounts = Readonly<Record<(typeof REVENUE_AMOUNTS)[number][0], string>>;

/** A row of the table: a group or month from the API, or a computed sum. */
export interface RevenueLine {
  readonly kind: 'group' | 'others' | 'month' | 'total';
  /** Row from the API with the month and, for the kind `group`, the group. */
  readonly row: RevenueReportRow;
  readonly amounts: Amounts;
}

function sumOf(rows: readonly Amounts[], less: readonly Amounts[] = []): Amounts {
  const sum = (some: readonly Amounts[], field: keyof Amounts): bigint =>
    some.reduce((total, one) => total + BigInt(one[field]), 0n);
  const fields = REVENUE_AMOUNTS.map(([field]) => [
    field,
    String(sum(rows, field) - sum(less, field)),
  ]);
  return Object.fromEntries(fields) as Amounts;
}

const isZero = (amounts: Amounts): boolean =>
  REVENUE_AMOUNTS.every(([field]) => amounts[field] === '0');

/**
 * Returns the lines of one currency: each month, then the total. If there are groups, the lines of the groups of a
 * month come before the line of the month. A line of the kind `others` sums the groups that the API left out, so that
 * the lines of the groups add up to the month.
 */
export function revenueLines(
  months: readonly RevenueReportRow[],
  groups: readonly RevenueReportRow[] | null,
): readonly RevenueLine[] {
  const [first] = months;
  if (first === undefined) return [];
  const lines = months.flatMap((month): readonly RevenueLine[] => {
    const sum = { kind: 'month', row: month, amounts: month } as const;
    if (groups === null) return [sum];
    const shown = groups.filter(({ window_start }) => window_start === month.window_start);
    const others = sumOf([month], shown);
    return [
      ...shown.map((row) => ({ kind: 'group', row, amounts: row }) as const),
      ...(isZero(others) ? [] : [{ kind: 'others', row: month, amounts: others } as const]),
      sum,
    ];
  });
  return [...lines, { kind: 'total', row: first, amounts: sumOf(months) }];
}
