import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import { money, shortMoney } from '../format/money';
import { showMonth } from '../format/text';
import { StackedBars } from '../ui/chart';
import { CUSTOMER_NAME_COLUMN } from '../ui/columns';
import { SelectInput } from '../ui/field';
import { ObjectLink } from '../ui/links';
import { Loaded } from '../ui/loaded';
import { Card } from '../ui/page';
import { type Column, SmallTable } from '../ui/table';
import {
  REVENUE_AMOUNTS,
  type RevenueLine,
  revenueLines,
  type RevenueReportRow,
} from './revenue-rows';
import { yearAgo } from './year-ago';

const GROUPS = [
  ['none', 'By month'],
  ['plan', 'By plan'],
  ['customer', 'By customer'],
  ['account', 'By account'],
] as const;

type Group = (typeof GROUPS)[number][0];

/** Maximum number of groups in each month. One more line has the sum of the other groups. */
const GROUPS_SHOWN = 20;

const inKind = ({ kind }: RevenueLine, text: ReactNode): ReactNode =>
  kind === 'total' ? <strong>{text}</strong> : text;

const MONTH_COLUMN: Column<RevenueLine> = {
  title: 'Month (UTC)',
  cell: (line) => inKind(line, line.kind === 'total' ? 'Total' : showMonth(line.row.window_start)),
};

const AMOUNT_COLUMNS: readonly Column<RevenueLine>[] = REVENUE_AMOUNTS.map(([field, title]) => ({
  title,
  isNumber: true,
  cell: (line) => {
    const { [field]: amount } = line.amounts;
    return inKind(line, amount === '0' ? '–' : money(amount, line.row.currency));
  },
}));

const GROUP_COLUMNS: Readonly<Record<Exclude<Group, 'none'>, Column<RevenueReportRow>>> = {
  plan: { title: 'Plan', cell: ({ plan_id }) => <ObjectLink id={plan_id} /> },
  customer: CUSTOMER_NAME_COLUMN,
  account: { title: 'Account', cell: ({ account }) => account },
};

/** Returns the column that names the group; no column for the report by month. */
function groupColumns(group: Group): readonly Column<RevenueLine>[] {
  if (group === 'none') return [];
  const { title, full, cell } = GROUP_COLUMNS[group];
  const nouns = `${title.toLowerCase()}s`;
  return [
    {
      title,
      full: ({ kind, row }) => (kind === 'group' ? (full?.(row) ?? '') : ''),
      cell: (line) => {
        if (line.kind === 'group') return cell(line.row);
        return line.kind === 'others' ? `All other ${nouns}` : <strong>All {nouns}</strong>;
      },
    },
  ];
}

const keyOf = ({ kind, row }: RevenueLine): string =>
  [kind, row.window_start, row.plan_id, row.customer_id, row.account].join(' ');

/** Revenue of a year from the ledger, month by month. */
export function EarnedRevenue(): ReactNode {
  const [from] = useState(yearAgo);
  const [group, setGroup] = useState<Group>('none');
  const [chosen, setChosen] = useState('');
  const period = { from, interval: 'month' } as const;
  const months = $api.useQuery('get', '/v1/analytics/revenue', { params: { query: period } });
  const groups = $api.useQuery(
    'get',
    '/v1/analytics/revenue',
    {
      params: {
        query: { ...period, ...(group !== 'none' && { group_by: group, limit: GROUPS_SHOWN }) },
      },
    },
    { enabled: group !== 'none' },
  );
  const currencies = [...new Set(months.data?.data.map((row) => row.currency))];
  const currency = currencies.find((one) => one === chosen) ?? currencies[0] ?? 'USD';
  const inCurrency = (rows: readonly RevenueReportRow[]): readonly RevenueReportRow[] =>
    rows.filter((row) => row.currency === currency);
  return (
    <Card
      title="Revenue"
      aside={
        <>
          <SelectInput
            label="Group"
            isInline
            value={group}
            options={GROUPS}
            onChange={(value) => setGroup(value as Group)}
          />
          {currencies.length > 1 && (
            <SelectInput
              label="Currency of revenue"
              isInline
              value={currency}
              options={currencies.map((one) => [one, one])}
              onChange={setChosen}
            />
          )}
        </>
      }
    >
      <Loaded query={months}>
        {({ data: sums }) => {
          const rows = inCurrency(sums);
          const table = (lines: readonly RevenueLine[]): ReactNode => (
            <SmallTable
              label="Revenue"
              rows={lines}
              keyOf={keyOf}
              empty="No revenue. Customers on test clocks do not count."
              columns={[MONTH_COLUMN, ...groupColumns(group), ...AMOUNT_COLUMNS]}
            />
          );
          if (group !== 'none')
            return (
              <Loaded query={groups}>
                {({ data }) => table(revenueLines(rows, inCurrency(data)))}
              </Loaded>
            );
          return (
            <>
              {rows.length > 0 && (
                <StackedBars
                  caption={`Earned revenue in ${currency}, by month`}
                  unit={currency}
                  format={(value) => money(Math.round(value), currency)}
                  formatTick={(value) => shortMoney(value, currency)}
                  bars={rows.map((row) => ({
                    key: row.window_start.slice(0, 10),
                    label: showMonth(row.window_start),
                    parts: new Map([['Earned', Number(row.earned)]]),
                  }))}
                />
              )}
              {table(revenueLines(rows, null))}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}
