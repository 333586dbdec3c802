import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import { money, shortMoney } from '../format/money';
import { showCode, showInstant, showMonth } from '../format/text';
import { type Bar, StackedBars } from '../ui/chart';
import { amountColumn, CUSTOMER_COLUMN } from '../ui/columns';
import { SelectInput } from '../ui/field';
import { CURRENCY, type Filter, optionsOf } from '../ui/filters';
import { ObjectLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { Loaded } from '../ui/loaded';
import { Card } from '../ui/page';
import css from '../ui/ui.module.css';
import { yearAgo } from './year-ago';

type Movements = Schemas['MrrMovementsWindowDto'];

const KINDS = ['new', 'expansion', 'contraction', 'churn', 'reactivation'] as const;

const PARTS: Readonly<Record<RecurringRevenueProps['shows'], (one: Movements) => Bar['parts']>> = {
  revenue: ({ closing }) => new Map([['MRR', Number(closing)]]),
  movements: (one) => new Map(KINDS.map((kind) => [kind, Number(one[kind])])),
};

const TITLES = {
  revenue: 'Monthly recurring revenue (MRR)',
  movements: 'Movements of MRR',
} as const;

export interface RecurringRevenueProps {
  readonly shows: 'revenue' | 'movements';
}

/** Monthly recurring revenue of a year, or its movements. Selecting a bar opens the changes of its month. */
export function RecurringRevenue({ shows }: RecurringRevenueProps): ReactNode {
  const [from] = useState(yearAgo);
  const [chosen, setChosen] = useState('');
  const navigate = useNavigate();
  const movements = $api.useQuery('get', '/v1/analytics/mrr/movements', {
    params: { query: { from, interval: 'month' } },
  });
  const all = movements.data?.data ?? [];
  const currencies = [...new Set(all.map(({ currency }) => currency))];
  const largest = [...all].sort((one, other) => Number(other.closing) - Number(one.closing))[0];
  const currency = currencies.find((one) => one === chosen) ?? largest?.currency;
  const windows = all.filter((one) => one.currency === currency);
  const last = windows.at(-1);
  const title = TITLES[shows];
  const showMinor = (value: number): string => money(Math.round(value), currency ?? 'USD');
  return (
    <Card
      title={title}
      aside={
        last !== undefined && (
          <>
            <strong>{money(last.closing, last.currency)} now</strong>
            {currencies.length > 1 && (
              <SelectInput
                label="Currency"
                isInline
                value={last.currency}
                options={currencies.map((one) => [one, one])}
                onChange={setChosen}
              />
            )}
          </>
        )
      }
    >
      <Loaded query={movements}>
        {() =>
          windows.length === 0 ? (
            <p className={css['empty']}>
              No recurring revenue. Customers on test clocks do not count.
            </p>
          ) : (
            <StackedBars
              caption={`${title} in ${currency ?? ''}, by month`}
              unit={currency ?? ''}
              format={showMinor}
              formatTick={(value) => shortMoney(value, currency ?? 'USD')}
              bars={windows.map((one) => ({
                key: one.window_start.slice(0, 10),
                label: showMonth(one.window_start),
                parts: PARTS[shows](one),
              }))}
              onOpen={({ key }) => {
                const one = windows.find(({ window_start }) => window_start.startsWith(key));
                // Without `to` for the last window, which ends now: a date is exclusive, and would leave out today.
                const to = one === last ? undefined : one?.window_end.slice(0, 10);
                const search = { from: key, to, currency };
                void navigate({ to: '/reports', search: search as never });
              }}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

const CHANGE_FILTERS: readonly Filter[] = [
  { name: 'kind', label: 'Kind', kind: 'choices', options: optionsOf(KINDS) },
  { name: 'from', label: 'From (UTC)', kind: 'date' },
  { name: 'to', label: 'Before (UTC)', kind: 'date' },
  CURRENCY,
  { name: 'customer_id', label: 'Customer id', kind: 'text' },
];

/** Changes of MRR, subscription by subscription. */
export function RevenueChanges(): ReactNode {
  return (
    <>
      <h2>Changes of MRR</h2>
      <ListView
        path="/v1/analytics/mrr/changes"
        expand="customer"
        label="Changes of MRR"
        nouns={['change', 'changes']}
        filters={CHANGE_FILTERS}
        columns={[
          { title: 'Time', cell: ({ changed_at }) => showInstant(changed_at) },
          { title: 'Kind', cell: ({ kind }) => showCode(kind) },
          CUSTOMER_COLUMN,
          amountColumn('Before', 'before'),
          amountColumn('After', 'after'),
          {
            title: 'Subscription',
            cell: ({ subscription_id }) => <ObjectLink id={subscription_id} />,
          },
        ]}
        empty="No changes. Customers on test clocks do not count."
      />
    </>
  );
}
