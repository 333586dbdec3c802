import { type ReactNode, useMemo, useState } from 'react';
import type { Payment } from '../api/objects';
import { amountsOf, daysOf, type Filter, optionsOf, REAL_TIME } from '../ui/filters';
import { ListView } from '../ui/list-view';
import { Page } from '../ui/page';
import { paymentColumns } from './payment-table';
import { RefundDialog } from './refund-dialog';

const STATUSES: readonly Payment['status'][] = [
  'pending',
  'processing',
  'requires_action',
  'succeeded',
  'failed',
  'canceled',
];

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'choices', options: optionsOf(STATUSES) },
  { name: 'customer_id', label: 'Customer id', kind: 'text' },
  { name: 'invoice_id', label: 'Invoice id', kind: 'text' },
  { name: 'failure_code', label: 'Failure code', kind: 'text', placeholder: 'card_declined' },
  ...amountsOf('amount', 'Amount'),
  ...daysOf('created', 'Created'),
  REAL_TIME,
];

export function PaymentsPage(): ReactNode {
  const [refunding, setRefunding] = useState<Payment | null>(null);
  const columns = useMemo(() => paymentColumns(setRefunding), []);
  return (
    <Page title="Payments">
      <ListView
        path="/v1/payments"
        expand="customer"
        label="Payments"
        nouns={['payment', 'payments']}
        columns={columns}
        filters={FILTERS}
        sums={[
          ['amount', 'amount'],
          ['amount_refunded', 'refunded'],
        ]}
        empty="No payments. An invoice that is collected makes them."
      />
      {refunding !== null && (
        <RefundDialog payment={refunding} onClose={() => setRefunding(null)} />
      )}
    </Page>
  );
}
