import { type ReactNode, useMemo, useState } from 'react';
import { api, read, type Schemas } from '../api/client';
import { type Filter, FilterBar, useFilters } from '../ui/filters';
import { Page } from '../ui/page';
import { List } from '../ui/table';
import { paymentColumns } from './payment-table';
import { RefundDialog } from './refund-dialog';

const FILTERS: readonly Filter[] = [
  { name: 'customer_id', label: 'Customer id', kind: 'text' },
  { name: 'invoice_id', label: 'Invoice id', kind: 'text' },
];

export function PaymentsPage(): ReactNode {
  const [values, onChange, onClear] = useFilters(FILTERS);
  const [refunding, setRefunding] = useState<Schemas['PaymentDto'] | null>(null);
  const columns = useMemo(() => paymentColumns(setRefunding), []);
  return (
    <Page title="Payments">
      <List
        label="Payments"
        nouns={['payment', 'payments']}
        columns={columns}
        keyOf={({ id }) => id}
        queryKey={[values]}
        load={(query) =>
          read(api.GET('/v1/payments', { params: { query: { ...query, ...values } } }))
        }
        filters={
          <FilterBar filters={FILTERS} values={values} onChange={onChange} onClear={onClear} />
        }
        empty="No payments. An invoice that is collected makes them."
      />
      {refunding !== null && (
        <RefundDialog payment={refunding} onClose={() => setRefunding(null)} />
      )}
    </Page>
  );
}
