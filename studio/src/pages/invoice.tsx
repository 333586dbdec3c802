import { Link, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import { download } from '../api/download';
import type { Invoice } from '../api/objects';
import { money } from '../format/money';
import {
  showCode,
  showInstant,
  showInstantIn,
  showNumber,
  showPeriod,
  showText,
  showZone,
} from '../format/text';
import { Button } from '../ui/button';
import { Id, ObjectLink, OwnerLink } from '../ui/links';
import { Failure, LoadedRows, PendingPage, ROWS_SHOWN } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { useSingleMutation } from '../ui/single-mutation';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import { toast } from '../ui/toast';
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
import { useInvoiceZones } from './invoice-zones';
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
      {invoice.number !== null && <PdfButton id={invoice.id} number={invoice.number} />}
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

function PdfButton({ id, number }: { readonly id: string; readonly number: string }): ReactNode {
  const pdf = useSingleMutation({
    mutationFn: () => download(`/v1/invoices/${id}.pdf`, 'application/pdf', `${number}.pdf`),
    onError: ({ message }) => toast(message),
  });
  return (
    <Button disabled={pdf.isPending} onClick={() => pdf.mutate()}>
      {pdf.isPending ? 'Downloading…' : 'PDF'}
    </Button>
  );
}

function Overview({ invoice, regenerated }: InvoiceProps): ReactNode {
  const { currency, status } = invoice;
  const { ofDates, failed } = useInvoiceZones(invoice);
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
          ['Remaining', status === 'void' ? showText(null) : amount(invoice.amount_remaining)],
          ['Collection', showCode(invoice.collection)],
          ['Finalized', showInstantIn(ofDates, invoice.finalized_at)],
          ['Due', showInstantIn(ofDates, invoice.due_at)],
          ['Next attempt', showInstant(invoice.next_attempt_at)],
          ['Id', <Id key="id" id={invoice.id} />],
        ]}
      />
      {failed !== undefined && <Failure query={failed} />}
    </Card>
  );
}

const optionalLink = (
  term: string,
  id: string | null,
  label?: string | null,
): readonly (readonly [string, ReactNode])[] =>
  id === null ? [] : [[term, <ObjectLink key={term} id={id} label={label ?? undefined} />]];

interface LinesProps {
  readonly invoice: Invoice;
  /** Id of the line that is explained. */
  readonly openLine: string | undefined;
}

function Lines({ invoice, openLine }: LinesProps): ReactNode {
  const { ofPeriods } = useInvoiceZones(invoice);
  return (
    <SmallTable
      label="Lines"
      rows={invoice.lines}
      keyOf={(one) => one.id}
      empty="No lines."
      columns={[
        {
          title: 'Description',
          cell: ({ description }) => description,
        },
        { title: 'Type', cell: ({ type }) => showCode(type) },
        {
          title: `Period (${showZone(ofPeriods)})`,
          cell: ({ period_start, period_end }) => showPeriod(period_start, period_end, ofPeriods),
        },
        {
          title: 'Quantity',
          isNumber: true,
          cell: ({ quantity }) => (quantity === null ? showText(null) : showNumber(quantity)),
        },
        {
          title: 'Amount',
          isNumber: true,
          cell: ({ amount }) => money(amount, invoice.currency),
        },
        {
          title: 'Explanation',
          isNumber: true,
          cell: (one) => (
            <Link
              to="."
              search={(one.id === openLine ? {} : { line: one.id }) as never}
              replace
              resetScroll={false}
            >
              {one.id === openLine ? 'Close' : 'Why?'}
              <span className="visually-hidden"> {one.description.slice(0, 80)}</span>
            </Link>
          ),
        },
      ]}
    />
  );
}

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
      query={invoice}
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
        <Lines invoice={data} openLine={line?.id} />
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
