import { type ReactNode, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { money, shortMoney } from '../format/money';
import { showMonth } from '../format/text';
import { StackedBars } from '../ui/chart';
import { SelectInput } from '../ui/field';
import { NamedCustomer, ObjectLink } from '../ui/links';
import { Card, Problem } from '../ui/page';
import { type Column, SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';
import { yearAgo } from './year-ago';

type RevenueReportRow = Schemas['RevenueRowDto'];
type Group = 'none' | 'plan' | 'customer' | 'account';

const GROUPS: readonly (readonly [Group, string])[] = [
  ['none', 'By month'],
  ['plan', 'By plan'],
  ['customer', 'By customer'],
  ['account', 'By account'],
];

/** Groups of each month at most. */
const GROUPS_SHOWN = 20;

const AMOUNTS = [
  ['gross', 'Gross'],
  ['discounts', 'Discounts'],
  ['earned', 'Earned'],
  ['deferred', 'Deferred'],
  ['refunds', 'Refunds'],
  ['written_off', 'Written off'],
  ['tax', 'Tax'],
] as const;

const AMOUNT_COLUMNS: readonly Column<RevenueReportRow>[] = AMOUNTS.map(([field, title]) => ({
  title,
  isNumber: true,
  cell: (row) => (row[field] === '0' ? '–' : money(row[field], row.currency)),
}));

const GROUP_COLUMNS: Readonly<Record<Exclude<Group, 'none'>, Column<RevenueReportRow>>> = {
  plan: { title: 'Plan', cell: ({ plan_id }) => <ObjectLink id={plan_id} /> },
  customer: {
    title: 'Customer',
    full: ({ customer_name }) => customer_name ?? '',
    cell: ({ customer_id, customer_name, is_deleted }) => (
      <NamedCustomer id={customer_id} name={customer_name} isDeleted={is_deleted} />
    ),
  },
  account: { title: 'Account', cell: ({ account }) => account },
};

const keyOf = (row: RevenueReportRow): string =>
  [row.currency, row.window_start, row.plan_id, row.customer_id, row.account].join(' ');

/** Revenue of a year from the ledger, month by month. */
export function EarnedRevenue(): ReactNode {
  const [from] = useState(yearAgo);
  const [group, setGroup] = useState<Group>('none');
  const [chosen, setChosen] = useState('');
  const { data, error, isLoading } = $api.useQuery('get', '/v1/analytics/revenue', {
    params: {
      query: {
        from,
        interval: 'month',
        ...(group !== 'none' && { group_by: group, limit: GROUPS_SHOWN }),
      },
    },
  });
  const all = data?.data ?? [];
  const currencies = [...new Set(all.map((row) => row.currency))];
  const currency = currencies.find((one) => one === chosen) ?? currencies[0] ?? 'USD';
  const rows = all.filter((row) => row.currency === currency);
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
      {error !== null && (
        <div className={css['body']}>
          <Problem error={error} />
        </div>
      )}
      {group === 'none' && rows.length > 0 && (
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
      <SmallTable
        label="Revenue"
        rows={rows}
        keyOf={keyOf}
        empty={isLoading ? 'Loading…' : 'No revenue. Customers on test clocks do not count.'}
        columns={[
          { title: 'Month (UTC)', cell: ({ window_start }) => showMonth(window_start) },
          ...(group === 'none' ? [] : [GROUP_COLUMNS[group]]),
          ...AMOUNT_COLUMNS,
        ]}
      />
    </Card>
  );
}
