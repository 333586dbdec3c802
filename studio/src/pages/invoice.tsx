import { Link, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import type { Invoice } from '../api/objects';
import { money } from '../format/money';
import { showCode, showInstant, showNumber, showPeriod, showText } from '../format/text';
import { Button } from '../ui/button';
import { Id, ObjectLink, OwnerLink } from '../ui/links';
import { LoadedRows, PendingPage, ROWS_SHOWN } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';
import { CreditNoteDialog } from './credit-note-dialog';
import {
  INVOICE_ACTIONS,
  type InvoiceAction,
  InvoiceActionDialog,
  REGENERATE,
} from './invoice-actions';
import { PaymentTable } from './payment-table';
import { InvoiceExplanation } from './invoice-explanation';
import { Timeline } from './timeline';
import { Why } from './why';

interface InvoiceProps {
  readonly invoice: Invoice;
  /** The new invoice that regenerated this one; null if there is none, undefined while it is loading. */
  readonly regenerated: Invoice | null | undefined;
}

function InvoiceActions({ invoice, regenerated }: InvoiceProps): ReactNode {
  const [action, setAction] = useState<InvoiceAction | null>(null);
  const [isCrediting, setIsCrediting] = useState(false);
  const isCreditable = ['open', 'paid'].includes(invoice.status);
  const offered = INVOICE_ACTIONS.filter(({ statuses }) => statuses.includes(invoice.status));
  return (
    <>
      {invoice.number !== null && (
        <a className={css['button']} href={`/v1/invoices/${invoice.id}.pdf`}>
          PDF
        </a>
      )}
      {isCreditable && (
        <Button needs="invoices:write" onClick={() => setIsCrediting(true)}>
          Credit…
        </Button>
      )}
      {offered
        .filter((one) => one !== REGENERATE || regenerated === null)
        .map((one) => (
          <Button key={one.path} needs={one.needs} onClick={() => setAction(one)}>
            {one.label}…
          </Button>
        ))}
      {isCrediting && <CreditNoteDialog invoice={invoice} onClose={() => setIsCrediting(false)} />}
      {action !== null && (
        <InvoiceActionDialog invoice={invoice} action={action} onClose={() => setAction(null)} />
      )}
    </>
  );
}

function Overview({ invoice, regenerated }: InvoiceProps): ReactNode {
  const { currency } = invoice;
  const amount = (minor: number): string => money(minor, currency);
  return (
    <Card title="Overview">
      <Details
        items={[
          ['Customer', <OwnerLink key="customer" id={invoice.customer_id} list="/v1/invoices" />],
          ['Subscription', <ObjectLink key="subscription" id={invoice.subscription_id} />],
          ['Reason', showCode(invoice.reason)],
          ...optionalLink('Regenerates', invoice.reissue_of),
          ...optionalLink('Regenerated as', regenerated?.id ?? null, regenerated?.number),
          ['Subtotal', amount(invoice.subtotal)],
          ['Discount', amount(invoice.discount)],
          ['Tax', amount(invoice.tax)],
          ['Total', amount(invoice.total)],
          ['Credit applied', amount(invoice.credit_applied)],
          ['Paid', amount(invoice.amount_paid)],
          ['Credited', amount(invoice.amount_credited)],
          ['Remaining', amount(invoice.amount_remaining)],
          ['Collection', showCode(invoice.collection)],
          ['Finalized', showInstant(invoice.finalized_at)],
          ['Due', showInstant(invoice.due_at)],
          ['Next attempt', showInstant(invoice.next_attempt_at)],
          ['Id', <Id key="id" id={invoice.id} />],
        ]}
      />
    </Card>
  );
}

const optionalLink = (
  term: string,
  id: string | null,
  label?: string | null,
): readonly (readonly [string, ReactNode])[] =>
  id === null ? [] : [[term, <ObjectLink key={term} id={id} label={label ?? undefined} />]];

export function InvoicePage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const invoice = $api.useQuery('get', '/v1/invoices/{id}', { params: { path: { id } } });
  const payments = $api.useQuery('get', '/v1/payments', {
    params: { query: { invoice_id: id, limit: ROWS_SHOWN } },
  });
  const regenerations = $api.useQuery(
    'get',
    '/v1/invoices',
    { params: { query: { reissue_of: id, limit: 1 } } },
    { enabled: invoice.data?.status === 'void' },
  );
  if (invoice.data === undefined) return <PendingPage title="Invoice" query={invoice} />;
  const { data } = invoice;
  const found = regenerations.data?.data;
  const regenerated = found && (found[0] ?? null);
  const line = data.lines.find((one) => one.id === search['line']);
  const isExplained = search['explained'] === 'true';
  return (
    <Page
      title={data.number ?? 'Draft'}
      mark={<Status value={data.status} />}
      crumb={{ to: '/invoices', label: 'Invoices' }}
      actions={<InvoiceActions invoice={data} regenerated={regenerated} />}
    >
      <Overview invoice={data} regenerated={regenerated} />
      <Card
        title="Lines"
        aside={
          <Link
            to="."
            className={css['button']}
            search={(isExplained ? {} : { explained: true }) as never}
            replace
            resetScroll={false}
          >
            {isExplained ? 'Close the explanation' : 'Explain'}
          </Link>
        }
      >
        <SmallTable
          label="Lines"
          rows={data.lines}
          keyOf={(one) => one.id}
          empty="No lines."
          columns={[
            {
              title: 'Description',
              cell: ({ description }) => description,
            },
            { title: 'Type', cell: ({ type }) => showCode(type) },
            {
              title: 'Period (UTC)',
              cell: ({ period_start, period_end }) => showPeriod(period_start, period_end),
            },
            {
              title: 'Quantity',
              isNumber: true,
              cell: ({ quantity }) => (quantity === null ? showText(null) : showNumber(quantity)),
            },
            {
              title: 'Amount',
              isNumber: true,
              cell: ({ amount }) => money(amount, data.currency),
            },
            {
              title: 'Explanation',
              isNumber: true,
              cell: (one) => (
                <Link
                  to="."
                  search={(one === line ? {} : { line: one.id }) as never}
                  replace
                  resetScroll={false}
                >
                  {one === line ? 'Close' : 'Why?'}
                  <span className="visually-hidden"> {one.description.slice(0, 80)}</span>
                </Link>
              ),
            },
          ]}
        />
      </Card>
      {line !== undefined && (
        <Card title={`Why ${money(line.amount, data.currency)}?`}>
          <Why invoiceId={id} lineId={line.id} currency={data.currency} />
        </Card>
      )}
      {isExplained && (
        <Card title={`Explanation of ${money(data.total, data.currency)}`}>
          <InvoiceExplanation invoiceId={id} />
        </Card>
      )}
      <Card title="Payments">
        <LoadedRows
          query={payments}
          all={{ to: '/payments', search: { invoice_id: id }, label: 'All payments' }}
        >
          {(rows) => <PaymentTable payments={rows} />}
        </LoadedRows>
      </Card>
      <Timeline of={{ object_id: id }} />
    </Page>
  );
}
