import type { ReactNode } from 'react';
import { api, read, type Schemas } from '../api/client';
import { type Filter, FilterBar, useFilters } from '../ui/filters';
import { Page } from '../ui/page';
import { List } from '../ui/table';
import { INVOICE_COLUMNS } from './invoice-table';

const STATUSES = ['draft', 'open', 'paid', 'void', 'uncollectible'] as const;

const FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    options: STATUSES.map((status) => [status, status]),
  },
  { name: 'customer_id', label: 'Customer id', kind: 'text' },
  { name: 'subscription_id', label: 'Subscription id', kind: 'text' },
];

type InvoiceStatus = Schemas['InvoiceDto']['status'];

export function InvoicesPage(): ReactNode {
  const [values, onChange, onClear] = useFilters(FILTERS);
  const { status, ...others } = values;
  const filters = { ...others, ...(status && { status: [status as InvoiceStatus] }) };
  return (
    <Page title="Invoices">
      <List
        label="Invoices"
        nouns={['invoice', 'invoices']}
        columns={INVOICE_COLUMNS}
        keyOf={({ id }) => id}
        queryKey={[values]}
        load={(query) =>
          read(api.GET('/v1/invoices', { params: { query: { ...query, ...filters } } }))
        }
        filters={
          <FilterBar filters={FILTERS} values={values} onChange={onChange} onClear={onClear} />
        }
        empty="No invoices. A subscription creates them, or POST /v1/invoices."
      />
    </Page>
  );
}
