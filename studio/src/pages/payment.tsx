import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import { money } from '../format/money';
import { showCode, showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { amountColumn } from '../ui/columns';
import { Id, ObjectLink, OwnerLink } from '../ui/links';
import { LoadedRows, PendingPage, ROWS_SHOWN } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import { RefundDialog, unrefundedOf } from './refund-dialog';
import { Timeline } from './timeline';

export function PaymentPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const [isRefunding, setIsRefunding] = useState(false);
  const payment = $api.useQuery('get', '/v1/payments/{id}', { params: { path: { id } } });
  const ofPayment = { payment_id: id };
  const firstOfPayment = { params: { query: { ...ofPayment, limit: ROWS_SHOWN } } };
  const refunds = $api.useQuery('get', '/v1/refunds', firstOfPayment);
  const disputes = $api.useQuery('get', '/v1/disputes', firstOfPayment);
  if (payment.data === undefined) return <PendingPage title="Payment" query={payment} />;
  const { data } = payment;
  return (
    <Page
      title={`Payment of ${money(data.amount, data.currency)}`}
      query={payment}
      mark={<Status value={data.status} />}
      crumb={{ to: '/payments', label: 'Payments' }}
      actions={
        unrefundedOf(data) > 0 && (
          <Button needs="refunds:write" onClick={() => setIsRefunding(true)}>
            Refund…
          </Button>
        )
      }
    >
      <Card title="Overview">
        <Details
          items={[
            ['Customer', <OwnerLink key="customer" id={data.customer_id} list="/v1/payments" />],
            ['Invoice', <ObjectLink key="invoice" id={data.invoice_id} />],
            ['Provider', data.provider],
            ['Payment method', showText(data.payment_method_id)],
            ['Failure', showCode(data.failure_code)],
            ['Applied to the invoice', money(data.amount_applied, data.currency)],
            ['Refunded', money(data.amount_refunded, data.currency)],
            ['Lost to disputes', money(data.amount_lost, data.currency)],
            ['Refunds pending', money(data.amount_refund_pending, data.currency)],
            ['By', showText(data.actor)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={data.id} />],
          ]}
        />
      </Card>
      <Card title="Refunds">
        <LoadedRows
          query={refunds}
          all={{ to: '/refunds', search: ofPayment, label: 'All refunds' }}
        >
          {(rows) => (
            <SmallTable
              label="Refunds"
              rows={rows}
              keyOf={(refund) => refund.id}
              empty="No refunds."
              columns={[
                { title: 'Created', cell: ({ created_at }) => showInstant(created_at) },
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
            />
          )}
        </LoadedRows>
      </Card>
      {(disputes.isError || (disputes.data?.data.length ?? 0) > 0) && (
        <Card title="Disputes">
          <LoadedRows
            query={disputes}
            all={{ to: '/disputes', search: ofPayment, label: 'All disputes' }}
          >
            {(rows) => (
              <SmallTable
                label="Disputes"
                rows={rows}
                keyOf={(dispute) => dispute.id}
                columns={[
                  { title: 'Opened', cell: ({ created_at }) => showInstant(created_at) },
                  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
                  { title: 'Reason', cell: (dispute) => showCode(dispute.reason) },
                  {
                    title: 'Evidence until',
                    cell: (dispute) => showInstant(dispute.evidence_due_at),
                  },
                  amountColumn('Amount', 'amount'),
                ]}
              />
            )}
          </LoadedRows>
        </Card>
      )}
      <Timeline of={{ object_id: id }} />
      {isRefunding && <RefundDialog payment={data} onClose={() => setIsRefunding(false)} />}
    </Page>
  );
}
