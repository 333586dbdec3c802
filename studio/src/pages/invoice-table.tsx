import type { ReactNode } from 'react';
import type { Invoice } from '../api/objects';
import { money } from '../format/money';
import { showCode, showDay, showPeriod } from '../format/text';
import { CustomerLink, ObjectLink } from '../ui/links';
import { Status } from '../ui/status';
import { type Column, SmallTable } from '../ui/table';

const NUMBER: Column<Invoice> = {
  title: 'Number',
  cell: ({ id, number }) => <ObjectLink id={id} label={number ?? 'Draft'} />,
};

const REST: readonly Column<Invoice>[] = [
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
  { title: 'Reason', cell: ({ reason }) => showCode(reason) },
  {
    title: 'Period (UTC)',
    cell: ({ period_start, period_end }) => showPeriod(period_start, period_end),
  },
  { title: 'Due (UTC)', cell: ({ due_at }) => showDay(due_at) },
  { title: 'Total', isNumber: true, cell: ({ total, currency }) => money(total, currency) },
  {
    title: 'Remaining',
    isNumber: true,
    cell: ({ amount_remaining, currency }) => money(amount_remaining, currency),
  },
];

export const INVOICE_COLUMNS: readonly Column<Invoice>[] = [
  NUMBER,
  { title: 'Customer', cell: ({ customer_id }) => <CustomerLink id={customer_id} /> },
  ...REST,
];

export function InvoiceTable({ invoices }: { readonly invoices: readonly Invoice[] }): ReactNode {
  return (
    <SmallTable
      label="Invoices"
      rows={invoices}
      keyOf={({ id }) => id}
      empty="No invoices."
      columns={[NUMBER, ...REST]}
    />
  );
}
