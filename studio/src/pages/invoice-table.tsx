import { type ReactNode, useState } from 'react';
import type { Invoice } from '../api/objects';
import { showCode, showDay, showPeriod } from '../format/text';
import { Button } from '../ui/button';
import { amountColumn, CUSTOMER_COLUMN } from '../ui/columns';
import { ObjectLink } from '../ui/links';
import { Status } from '../ui/status';
import { type Column, SmallTable } from '../ui/table';
import { COLLECT, InvoiceActionDialog } from './invoice-actions';

const NUMBER: Column<Invoice> = {
  title: 'Number',
  cell: ({ id, number }) => <ObjectLink id={id} label={number ?? 'Draft'} />,
};

const REST: readonly Column<Invoice>[] = [
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
  { ...amountColumn('Total', 'total'), sort: 'total' },
  amountColumn('Remaining', 'amount_remaining'),
  {
    title: 'Finalized (UTC)',
    sort: 'finalized_at',
    cell: ({ finalized_at }) => showDay(finalized_at),
  },
  { title: 'Due (UTC)', sort: 'due_at', cell: ({ due_at }) => showDay(due_at) },
  { title: 'Reason', cell: ({ reason }) => showCode(reason) },
  {
    title: 'Period (UTC)',
    cell: ({ period_start, period_end }) => showPeriod(period_start, period_end),
  },
];

export const INVOICE_COLUMNS: readonly Column<Invoice>[] = [NUMBER, CUSTOMER_COLUMN, ...REST];

function collectColumn(onCollect: (invoice: Invoice) => void): Column<Invoice> {
  return {
    title: 'Actions',
    isNumber: true,
    cell: (invoice) =>
      COLLECT.statuses.includes(invoice.status) && (
        <Button
          kind="quiet"
          needs="payments:write"
          aria-label={`Collect ${invoice.number ?? 'the invoice'}`}
          onClick={() => onCollect(invoice)}
        >
          Collect…
        </Button>
      ),
  };
}

export function InvoiceTable({ invoices }: { readonly invoices: readonly Invoice[] }): ReactNode {
  const [collected, setCollected] = useState<Invoice | null>(null);
  return (
    <>
      <SmallTable
        label="Invoices"
        rows={invoices}
        keyOf={({ id }) => id}
        empty="No invoices."
        columns={[NUMBER, ...REST, collectColumn(setCollected)]}
      />
      {collected !== null && (
        <InvoiceActionDialog
          invoice={collected}
          action={COLLECT}
          onClose={() => setCollected(null)}
        />
      )}
    </>
  );
}
