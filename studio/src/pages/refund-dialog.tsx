import { type ReactNode, useState } from 'react';
import { $api, api, read, type Schemas } from '../api/client';
import type { Payment, Refund } from '../api/objects';
import { money, parseMoney, toDecimal } from '../format/money';
import { useAccess } from '../layout/access';
import { ActionDialog } from '../ui/dialog';
import { CheckInput, TextInput } from '../ui/field';
import { useFresh } from '../ui/fresh';
import { Loaded } from '../ui/loaded';
import { Problem } from '../ui/page';
import css from '../ui/ui.module.css';
import { amountRefusal } from './amount-refusal';
import { useLineAmounts } from './line-amounts';

type Refundable = Schemas['RefundableDto'];

/**
 * Returns the minor units of a payment that are neither refunded nor lost. The refundable amount can be smaller,
 * because credit notes may have given a part back as credit.
 */
export function unrefundedOf(payment: Payment): number {
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
  const query = useFresh(['refundable', id], () =>
    read(
      api.GET('/v1/refunds/payment/{paymentId}/refundable', {
        params: { path: { paymentId: id } },
      }),
    ),
  );
  const refundable = query.data;
  const [text, setText] = useState<string | null>(null);
  // Fills the amount in once, before the fields are shown. A request that is sent again must not get another amount.
  if (text === null && refundable !== undefined) setText(prefilled(refundable));
  const [reason, setReason] = useState('');
  const [hasNote, setHasNote] = useState(false);
  const mayCredit = useAccess()('invoices:write') && payment.invoice_id !== null;
  const invoice = $api.useQuery(
    'get',
    '/v1/invoices/{id}',
    { params: { path: { id: payment.invoice_id ?? '' } } },
    { enabled: hasNote },
  );
  // A credit note lowers what remains of its invoice before it leaves an amount to refund.
  const note = useLineAmounts(
    invoice.data,
    refundable && refundable.refundable_amount + (invoice.data?.amount_remaining ?? 0),
  );
  const amount = parseMoney(text ?? '', currency);
  const fault = text === null ? null : faultOf(text, refundable, currency);
  const isWithinLimits = hasNote ? note.isWithinLimits : fault === null;
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
      isReady={refundable !== undefined && isWithinLimits}
      request={(idempotencyKey) => {
        const body = bodyOf(idempotencyKey);
        return body && { method: 'POST', path: `/v1/refunds/payment/${id}`, body };
      }}
      done={(refund) => `Refund of ${money(refund.amount, refund.currency)}: ${refund.status}`}
      explain={(problem) => amountRefusal(problem, currency)}
      onClose={onClose}
    >
      <Loaded query={query}>
        {(data) => <p className={css['hint']}>{explain(data, payment.amount, hasNote)}</p>}
      </Loaded>
      {text !== null && (
        <>
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
        </>
      )}
    </ActionDialog>
  );
}

function prefilled({ default_amount, currency }: Refundable): string {
  return default_amount === 0 ? '' : toDecimal(default_amount, currency);
}

function explain(
  { default_amount, refundable_amount, currency }: Refundable,
  paid: number,
  hasNote: boolean,
): string {
  const limit = `${money(refundable_amount, currency)} of ${money(paid, currency)} can be refunded.`;
  if (hasNote || refundable_amount === default_amount) return limit;
  return `${limit} More than ${money(default_amount, currency)} also pays out unused credit of the customer from credit notes and negative invoices.`;
}

function faultOf(
  text: string,
  refundable: Refundable | undefined,
  currency: string,
): string | null {
  const amount = parseMoney(text, currency);
  if (amount === null || amount === 0) return `Not an amount of ${currency}.`;
  if (refundable === undefined || amount <= refundable.refundable_amount) return null;
  return `At most ${money(refundable.refundable_amount, currency)} can be refunded.`;
}
