import { type ReactNode, useState } from 'react';
import type { Invoice } from '../api/objects';
import { money } from '../format/money';
import { showCode, showDay, showPeriod, showText } from '../format/text';
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

/**
 * @param timeZone a {@link knownZone}
 * @param suffix text after the names of the columns with dates
 */
function restIn(timeZone: string, suffix = ''): readonly Column<Invoice>[] {
  return [
    { title: 'Status', cell: ({ status }) => <Status value={status} /> },
    { ...amountColumn('Total', 'total'), sort: 'total' },
    {
      title: 'Remaining',
      isNumber: true,
      cell: ({ status, amount_remaining, currency }) =>
        status === 'void' ? showText(null) : money(amount_remaining, currency),
    },
    {
      title: `Finalized${suffix}`,
      sort: 'finalized_at',
      cell: ({ finalized_at }) => showDay(finalized_at, timeZone),
    },
    {
      title: `Due${suffix}`,
      sort: 'due_at',
      cell: ({ due_at }) => showDay(due_at, timeZone),
    },
    { title: 'Reason', cell: ({ reason }) => showCode(reason) },
    {
      title: `Period${suffix}`,
      cell: ({ period_start, period_end }) => showPeriod(period_start, period_end, timeZone),
    },
  ];
}

export const INVOICE_COLUMNS: readonly Column<Invoice>[] = [
  NUMBER,
  CUSTOMER_COLUMN,
  ...restIn('UTC', ' (UTC)'),
];

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

export interface InvoiceTableProps {
  readonly invoices: readonly Invoice[];
  /** Time zone of the dates, a {@link knownZone}. The heading of the table names it. */
  readonly timeZone: string;
}

export function InvoiceTable({ invoices, timeZone }: InvoiceTableProps): ReactNode {
  const [collected, setCollected] = useState<Invoice | null>(null);
  return (
    <>
      <SmallTable
        label="Invoices"
        rows={invoices}
        keyOf={({ id }) => id}
        empty="No invoices."
        columns={[NUMBER, ...restIn(timeZone), collectColumn(setCollected)]}
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
