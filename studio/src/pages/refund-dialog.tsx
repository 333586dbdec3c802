import { type ReactNode, useState } from 'react';
import { $api, type Schemas } from '../api/client';
import type { Payment, Refund } from '../api/objects';
import { money, parseMoney, toDecimal } from '../format/money';
import { useAccess } from '../layout/access';
import { ActionDialog } from '../ui/dialog';
import { CheckInput, TextInput } from '../ui/field';
import { Problem } from '../ui/page';
import css from '../ui/ui.module.css';
import { useLineAmounts } from './line-amounts';

/** Returns the minor units of a payment that can be refunded. */
export function refundableOf(payment: Payment): number {
  const { status, is_disputed, amount, amount_refunded, amount_refund_pending, amount_lost } =
    payment;
  if (status !== 'succeeded' || is_disputed) return 0;
  return Math.max(0, amount - amount_refunded - amount_refund_pending - amount_lost);
}

export interface RefundDialogProps {
  readonly payment: Payment;
  readonly onClose: () => void;
}

export function RefundDialog({ payment, onClose }: RefundDialogProps): ReactNode {
  const { id, currency } = payment;
  const refundable = refundableOf(payment);
  const [text, setText] = useState(() => toDecimal(refundable, currency));
  const [reason, setReason] = useState('');
  const [hasNote, setHasNote] = useState(false);
  const mayCredit = useAccess()('invoices:write') && payment.invoice_id !== null;
  const invoice = $api.useQuery(
    'get',
    '/v1/invoices/{id}',
    { params: { path: { id: payment.invoice_id ?? '' } } },
    { enabled: hasNote },
  );
  const note = useLineAmounts(invoice.data);
  const amount = parseMoney(text, currency);
  const fault = faultOf(amount, refundable, currency);
  const label = hasNote
    ? `Refund ${money(note.total, currency)} before tax`
    : amount === null
      ? 'Refund'
      : `Refund ${money(amount, currency)}`;
  const bodyOf = (idempotencyKey: string): Schemas['CreateRefundDto'] | null => {
    const why = reason.trim();
    if (hasNote) {
      if (!note.isComplete || why === '') return null;
      return { reason: why, credit_note: { lines: [...note.lines], reason: why }, idempotencyKey };
    }
    if (amount === null) return null;
    return { amount, ...(why !== '' && { reason: why }), idempotencyKey };
  };
  return (
    <ActionDialog<Refund>
      title="Refund a payment"
      submitLabel={label}
      isReady={hasNote ? note.isWithinLimits : fault === null}
      request={(idempotencyKey) => {
        const body = bodyOf(idempotencyKey);
        return body && { method: 'POST', path: `/v1/refunds/payment/${id}`, body };
      }}
      done={(refund) => `Refund of ${money(refund.amount, refund.currency)}: ${refund.status}`}
      onClose={onClose}
    >
      <p className={css['hint']}>
        {money(refundable, currency)} of {money(payment.amount, currency)} can be refunded.
      </p>
      {hasNote ? (
        <>
          <Problem error={invoice.error} />
          {note.fields}
        </>
      ) : (
        <TextInput
          label={`Amount in ${currency}`}
          inputMode="decimal"
          autoFocus
          value={text}
          fault={fault}
          onChange={setText}
        />
      )}
      <TextInput
        label="Reason"
        hint={hasNote ? 'Printed on the credit note.' : 'Shown on the refund.'}
        maxLength={500}
        value={reason}
        onChange={setReason}
      />
      {mayCredit && (
        <CheckInput
          label="With a credit note, which corrects revenue and tax"
          isChecked={hasNote}
          onChange={setHasNote}
        />
      )}
    </ActionDialog>
  );
}

function faultOf(amount: number | null, refundable: number, currency: string): string | null {
  if (amount === null || amount === 0) return `Not an amount of ${currency}.`;
  return amount > refundable ? `At most ${money(refundable, currency)} can be refunded.` : null;
}
