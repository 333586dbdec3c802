import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import type { Payment, Refund } from '../api/objects';
import { money, parseMoney, toDecimal } from '../format/money';
import { ActionDialog } from '../ui/dialog';
import { TextInput } from '../ui/field';
import css from '../ui/ui.module.css';

/** Returns the minor units of a payment that can be refunded. */
export function refundableOf(payment: Payment): number {
  if (payment.status !== 'succeeded') return 0;
  return payment.amount - payment.amount_refunded - payment.amount_refund_pending;
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
  const amount = parseMoney(text, currency);
  const fault = faultOf(amount, refundable, currency);
  return (
    <ActionDialog<Refund>
      title="Refund a payment"
      submitLabel={amount === null ? 'Refund' : `Refund ${money(amount, currency)}`}
      request={(idempotencyKey) => {
        if (amount === null || fault !== null) return null;
        const body = {
          amount,
          ...(reason.trim() !== '' && { reason: reason.trim() }),
          idempotencyKey,
        } satisfies Schemas['CreateRefundDto'];
        return { method: 'POST', path: `/v1/refunds/payment/${id}`, body };
      }}
      done={(refund) => `Refund of ${money(refund.amount, refund.currency)}: ${refund.status}`}
      onClose={onClose}
    >
      <p className={css['hint']}>
        {money(refundable, currency)} of {money(payment.amount, currency)} can be refunded.
      </p>
      <TextInput
        label={`Amount in ${currency}`}
        inputMode="decimal"
        autoFocus
        value={text}
        fault={fault}
        onChange={setText}
      />
      <TextInput
        label="Reason"
        hint="Shown on the refund."
        maxLength={500}
        value={reason}
        onChange={setReason}
      />
    </ActionDialog>
  );
}

function faultOf(amount: number | null, refundable: number, currency: string): string | null {
  if (amount === null || amount === 0) return `Not an amount of ${currency}.`;
  return amount > refundable ? `At most ${money(refundable, currency)} can be refunded.` : null;
}
