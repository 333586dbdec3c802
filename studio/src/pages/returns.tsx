import type { ReactNode } from 'react';
import { showCode, showDay, showInstant, showText } from '../format/text';
import { amountColumn, CUSTOMER_COLUMN } from '../ui/columns';
import { amountsOf, daysOf, type Filter, optionsOf } from '../ui/filters';
import { ObjectLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { Page } from '../ui/page';
import { Status } from '../ui/status';

const CUSTOMER: Filter = { name: 'customer_id', label: 'Customer id', kind: 'text' };
const PAYMENT: Filter = { name: 'payment_id', label: 'Payment id', kind: 'text' };

const statuses = (...codes: readonly string[]): Filter => ({
  name: 'status',
  label: 'Status',
  kind: 'choices',
  options: optionsOf(codes),
});

const CREDIT_NOTE_FILTERS: readonly Filter[] = [
  statuses('issued', 'void'),
  CUSTOMER,
  { name: 'invoice_id', label: 'Invoice id', kind: 'text' },
  ...amountsOf('total', 'Total'),
  ...daysOf('created', 'Created'),
];

const REFUND_FILTERS: readonly Filter[] = [
  statuses('pending', 'succeeded', 'failed', 'canceled'),
  CUSTOMER,
  PAYMENT,
  { name: 'failure_code', label: 'Failure code', kind: 'text' },
  ...amountsOf('amount', 'Amount'),
  ...daysOf('created', 'Created'),
];

const DISPUTE_FILTERS: readonly Filter[] = [
  {
    name: 'status',
    label: 'Status',
    kind: 'choice',
    options: optionsOf(['inquiry', 'open', 'won', 'lost', 'closed']),
  },
  CUSTOMER,
  PAYMENT,
];

export function CreditNotesPage(): ReactNode {
  return (
    <Page title="Credit notes">
      <ListView
        path="/v1/credit-notes"
        expand="customer"
        label="Credit notes"
        nouns={['credit note', 'credit notes']}
        filters={CREDIT_NOTE_FILTERS}
        sums={[['total', 'total']]}
        columns={[
          { title: 'Number', cell: ({ id, number }) => <ObjectLink id={id} label={number} /> },
          { title: 'Status', cell: ({ status }) => <Status value={status} /> },
          CUSTOMER_COLUMN,
          amountColumn('Total', 'total'),
          { title: 'Reason', cell: ({ reason }) => reason },
          { title: 'Settlement', cell: ({ settle }) => showCode(settle) },
          { title: 'Created (UTC)', cell: ({ created_at }) => showDay(created_at) },
          { title: 'Invoice', cell: ({ invoice_id }) => <ObjectLink id={invoice_id} /> },
        ]}
        empty="No credit notes. Credit an invoice on its page."
      />
    </Page>
  );
}

export function RefundsPage(): ReactNode {
  return (
    <Page title="Refunds">
      <ListView
        path="/v1/refunds"
        expand="customer"
        label="Refunds"
        nouns={['refund', 'refunds']}
        filters={REFUND_FILTERS}
        sums={[['amount', 'amount']]}
        columns={[
          {
            title: 'Created',
            cell: ({ payment_id, created_at }) => (
              <ObjectLink id={payment_id} label={showInstant(created_at)} />
            ),
          },
          CUSTOMER_COLUMN,
          { title: 'Status', cell: ({ status }) => <Status value={status} /> },
          {
            title: 'Reason',
            cell: ({ reason }) => showText(reason),
          },
          { title: 'Failure', cell: ({ failure_code }) => showCode(failure_code) },
          {
            title: 'Credit note',
            cell: ({ credit_note_id }) => <ObjectLink id={credit_note_id} />,
          },
          { title: 'By', cell: ({ actor }) => actor },
          amountColumn('Amount', 'amount'),
        ]}
        empty="No refunds. Refund a payment on its page."
      />
    </Page>
  );
}

export function DisputesPage(): ReactNode {
  return (
    <Page title="Disputes">
      <ListView
        path="/v1/disputes"
        expand="customer"
        label="Disputes"
        nouns={['dispute', 'disputes']}
        filters={DISPUTE_FILTERS}
        columns={[
          {
            title: 'Opened',
            cell: ({ payment_id, created_at }) => (
              <ObjectLink id={payment_id} label={showInstant(created_at)} />
            ),
          },
          CUSTOMER_COLUMN,
          { title: 'Status', cell: ({ status }) => <Status value={status} /> },
          { title: 'Reason', cell: ({ reason }) => showCode(reason) },
          { title: 'Evidence until', cell: ({ evidence_due_at }) => showInstant(evidence_due_at) },
          {
            title: 'Reference',
            cell: ({ provider, provider_reference }) => `${provider} ${provider_reference}`,
          },
          amountColumn('Amount', 'amount'),
          amountColumn('Lost', 'amount_lost'),
        ]}
        empty="No disputes. The payment provider reports them; answer them there."
      />
    </Page>
  );
}
