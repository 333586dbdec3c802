import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Customer } from '../api/objects';
import { showDay, showText } from '../format/text';
import { Button } from '../ui/button';
import { CURRENCY, daysOf, type Filter } from '../ui/filters';
import { ListView } from '../ui/list-view';
import { Page } from '../ui/page';
import type { Column } from '../ui/table';
import { NewCustomerDialog } from './customer-dialogs';

const FILTERS: readonly Filter[] = [
  { name: 'q', label: 'Name or part of it', kind: 'text' },
  { name: 'email', label: 'Email', kind: 'text' },
  { name: 'external_id', label: 'External id', kind: 'text' },
  { name: 'owing', label: 'Balance', kind: 'choice', options: [['true', 'Has to pay']] },
  CURRENCY,
  { name: 'test_clock_id', label: 'Test clock id, or none', kind: 'text' },
  ...daysOf('created', 'Created'),
];

const COLUMNS: readonly Column<Customer>[] = [
  {
    title: 'Name',
    sort: 'name',
    isSortedUpFirst: true,
    full: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link to="/customers/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { title: 'Email', cell: ({ email }) => showText(email) },
  {
    title: 'External id',
    cell: ({ external_id }) => showText(external_id),
  },
  { title: 'Currency', cell: ({ currency }) => showText(currency) },
  { title: 'Time zone', cell: ({ timezone }) => timezone },
  { title: 'Created (UTC)', sort: 'created_at', cell: ({ created_at }) => showDay(created_at) },
];

export function CustomersPage(): ReactNode {
  const [isCreating, setIsCreating] = useState(false);
  return (
    <Page
      title="Customers"
      actions={
        <Button kind="primary" needs="customers:write" onClick={() => setIsCreating(true)}>
          New customer…
        </Button>
      }
    >
      <ListView
        path="/v1/customers"
        label="Customers"
        nouns={['customer', 'customers']}
        columns={COLUMNS}
        filters={FILTERS}
        sums={[]}
        empty="No customers. Create one here or with POST /v1/customers, or run npm run demo -- --story."
      />
      {isCreating && <NewCustomerDialog onClose={() => setIsCreating(false)} />}
    </Page>
  );
}
