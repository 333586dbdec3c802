import { type ReactNode, useState } from 'react';
import type { Payment } from '../api/objects';
import { money } from '../format/money';
import { showCode, showInstant } from '../format/text';
import { Button } from '../ui/button';
import { amountColumn, CUSTOMER_COLUMN } from '../ui/columns';
import { ObjectLink } from '../ui/links';
import { Status } from '../ui/status';
import { type Column, SmallTable } from '../ui/table';
import { RefundDialog, unrefundedOf } from './refund-dialog';

const TIME: Column<Payment> = {
  title: 'Created',
  cell: ({ id, created_at }) => <ObjectLink id={id} label={showInstant(created_at)} />,
};

const REST: readonly Column<Payment>[] = [
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
  { title: 'Failure', cell: ({ failure_code }) => showCode(failure_code) },
  { title: 'Provider', cell: ({ provider }) => provider },
  amountColumn('Amount', 'amount'),
  amountColumn('Refunded', 'amount_refunded'),
];

function refundColumn(onRefund: (payment: Payment) => void): Column<Payment> {
  return {
    title: 'Actions',
    isNumber: true,
    cell: (payment) =>
      unrefundedOf(payment) > 0 && (
        <Button
          kind="quiet"
          needs="refunds:write"
          aria-label={`Refund the payment of ${money(payment.amount, payment.currency)}`}
          onClick={() => onRefund(payment)}
        >
          Refund…
        </Button>
      ),
  };
}

export function paymentColumns(onRefund: (payment: Payment) => void): readonly Column<Payment>[] {
  return [TIME, CUSTOMER_COLUMN, ...REST, refundColumn(onRefund)];
}

export function PaymentTable({ payments }: { readonly payments: readonly Payment[] }): ReactNode {
  const [refunding, setRefunding] = useState<Payment | null>(null);
  return (
    <>
      <SmallTable
        label="Payments"
        rows={payments}
        keyOf={({ id }) => id}
        empty="No payments."
        columns={[TIME, ...REST, refundColumn(setRefunding)]}
      />
      {refunding !== null && (
        <RefundDialog payment={refunding} onClose={() => setRefunding(null)} />
      )}
    </>
  );
}
