import type { ReactNode } from 'react';
import type { Invoice } from '../api/objects';
import { amountsOf, daysOf, type Filter, optionsOf, REAL_TIME } from '../ui/filters';
import { ListView } from '../ui/list-view';
import { Page } from '../ui/page';
import { INVOICE_COLUMNS } from './invoice-table';

const STATUSES: readonly Invoice['status'][] = ['draft', 'open', 'paid', 'void', 'uncollectible'];

const REASONS: readonly Invoice['reason'][] = [
  'subscription_start',
  'renewal',
  'change',
  'end',
  'late_usage',
  'one_off',
];

const COLLECTIONS: readonly Invoice['collection'][] = ['automatic', 'send_invoice'];

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'choices', options: optionsOf(STATUSES) },
  { name: 'overdue', label: 'Overdue', kind: 'choice', options: [['true', 'Overdue only']] },
  { name: 'number', label: 'Number', kind: 'text', placeholder: 'INV-000001' },
  { name: 'customer_id', label: 'Customer id', kind: 'text' },
  { name: 'subscription_id', label: 'Subscription id', kind: 'text' },
  { name: 'reason', label: 'Reason', kind: 'choice', options: optionsOf(REASONS) },
  { name: 'collection', label: 'Collection', kind: 'choice', options: optionsOf(COLLECTIONS) },
  ...amountsOf('total', 'Total'),
  ...daysOf('due', 'Due'),
  ...daysOf('finalized', 'Finalized'),
  ...daysOf('created', 'Created'),
  REAL_TIME,
];

export function InvoicesPage(): ReactNode {
  return (
    <Page title="Invoices">
      <ListView
        path="/v1/invoices"
        expand="customer"
        label="Invoices"
        nouns={['invoice', 'invoices']}
        columns={INVOICE_COLUMNS}
        filters={FILTERS}
        sums={[
          ['total', 'total'],
          ['amount_remaining', 'remaining of finalized invoices, without void ones,'],
        ]}
        empty="No invoices. A subscription creates them, or POST /v1/invoices."
      />
    </Page>
  );
}
