import { type ReactNode, useState } from 'react';
import type { Invoice } from '../api/objects';
import { money } from '../format/money';
import { showCode, showDay, showPeriod, showPeriodIn, showText } from '../format/text';
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

interface Zones {
  /** Time zone of the dates, a {@link knownZone}, which a heading names; null while it is not known. */
  readonly timeZone: string | null;
  /** Returns the time zone of the period of an invoice, a {@link knownZone}; null while it is not known. */
  readonly periodZoneOf: (invoice: Invoice) => string | null;
}

/** @param suffix text after the names of the columns with dates */
function restIn({ timeZone, periodZoneOf }: Zones, suffix = ''): readonly Column<Invoice>[] {
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
      cell: (invoice) => {
        const { period_start, period_end } = invoice;
        const zone = periodZoneOf(invoice);
        return zone === null || zone === timeZone
          ? showPeriod(period_start, period_end, zone)
          : showPeriodIn(zone, period_start, period_end);
      },
    },
  ];
}

export const INVOICE_COLUMNS: readonly Column<Invoice>[] = [
  NUMBER,
  CUSTOMER_COLUMN,
  ...restIn({ timeZone: 'UTC', periodZoneOf: () => 'UTC' }, ' (UTC)'),
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

export interface InvoiceTableProps extends Zones {
  readonly invoices: readonly Invoice[];
}

/** A table of invoices. Names the time zone of a period that differs from that of the dates. */
export function InvoiceTable({ invoices, ...zones }: InvoiceTableProps): ReactNode {
  const [collected, setCollected] = useState<Invoice | null>(null);
  return (
    <>
      <SmallTable
        label="Invoices"
        rows={invoices}
        keyOf={({ id }) => id}
        empty="No invoices."
        columns={[NUMBER, ...restIn(zones), collectColumn(setCollected)]}
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
