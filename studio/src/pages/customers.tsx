import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { api, read } from '../api/client';
import type { Customer } from '../api/objects';
import { showDay, showText } from '../format/text';
import { Button } from '../ui/button';
import { type Filter, FilterBar, useFilters } from '../ui/filters';
import { Page } from '../ui/page';
import { type Column, List } from '../ui/table';
import { NewCustomerDialog } from './customer-dialogs';

const FILTERS: readonly Filter[] = [
  { name: 'email', label: 'Email', kind: 'text' },
  { name: 'external_id', label: 'External id', kind: 'text' },
];

const COLUMNS: readonly Column<Customer>[] = [
  {
    title: 'Name',
    full: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link to="/customers/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Email', full: ({ email }) => email ?? '', cell: ({ email }) => showText(email) },
  {
    title: 'External id',
    full: ({ external_id }) => external_id ?? '',
    cell: ({ external_id }) => showText(external_id),
  },
  { title: 'Currency', cell: ({ currency }) => showText(currency) },
  { title: 'Time zone', cell: ({ timezone }) => timezone },
  { title: 'Created (UTC)', cell: ({ created_at }) => showDay(created_at) },
];

export function CustomersPage(): ReactNode {
  const [values, onChange, onClear] = useFilters(FILTERS);
  const [isCreating, setIsCreating] = useState(false);
  return (
    <Page
      title="Customers"
      actions={
        <Button kind="primary" onClick={() => setIsCreating(true)}>
          New customer…
        </Button>
      }
    >
      <List
        label="Customers"
        nouns={['customer', 'customers']}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        queryKey={[values]}
        load={(query) =>
          read(api.GET('/v1/customers', { params: { query: { ...query, ...values } } }))
        }
        filters={
          <FilterBar filters={FILTERS} values={values} onChange={onChange} onClear={onClear} />
        }
        empty="No customers. Create one here or with POST /v1/customers, or run npm run demo."
      />
      {isCreating && <NewCustomerDialog onClose={() => setIsCreating(false)} />}
    </Page>
  );
}
