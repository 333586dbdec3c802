import type { ReactNode } from 'react';
import { api, read, type Schemas } from '../api/client';
import { showCode } from '../format/text';
import { type Filter, FilterBar, useFilters } from '../ui/filters';
import { Page } from '../ui/page';
import { List } from '../ui/table';
import { SUBSCRIPTION_COLUMNS } from './subscription-table';

type Status = Schemas['SubscriptionDto']['status'];

const STATUSES: readonly Status[] = [
  'active',
  'trialing',
  'past_due',
  'unpaid',
  'paused',
  'canceled',
  'incomplete',
  'incomplete_expired',
];

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    options: STATUSES.map((status) => [status, showCode(status)]),
  },
  { name: 'customer_id', label: 'Customer id', kind: 'text' },
];

export function SubscriptionsPage(): ReactNode {
  const [values, onChange, onClear] = useFilters(FILTERS);
  const { status, ...others } = values;
  const filters = { ...others, ...(status && { status: [status as Status] }) };
  return (
    <Page title="Subscriptions">
      <List
        label="Subscriptions"
        nouns={['subscription', 'subscriptions']}
        columns={SUBSCRIPTION_COLUMNS}
        keyOf={({ id }) => id}
        queryKey={[values]}
        load={(query) =>
          read(api.GET('/v1/subscriptions', { params: { query: { ...query, ...filters } } }))
        }
        filters={
          <FilterBar filters={FILTERS} values={values} onChange={onChange} onClear={onClear} />
        }
        empty="No subscriptions. Create one with POST /v1/subscriptions."
      />
    </Page>
  );
}
