import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import type { CreditNote, Invoice } from '../api/objects';
import { money } from '../format/money';
import { ActionDialog } from '../ui/dialog';
import { SelectInput, TextInput } from '../ui/field';
import { amountRefusal } from './amount-refusal';
import { useLineAmounts } from './line-amounts';

type Settlement = Schemas['CreateCreditNoteDto']['settle'];

const SETTLEMENTS: readonly (readonly [Settlement, string])[] = [
  ['credit', 'To the invoice, then to the credit balance'],
  ['refund', 'To the invoice; the paid part stays to be refunded on the payment'],
];

export interface CreditNoteDialogProps {
  readonly invoice: Invoice;
  readonly onClose: () => void;
}

/** Creates a credit note from an amount, before tax, for each line of an invoice. */
export function CreditNoteDialog({ invoice, onClose }: CreditNoteDialogProps): ReactNode {
  const { currency } = invoice;
  const { lines, total, isComplete, isWithinLimits, fields } = useLineAmounts(invoice);
  const [reason, setReason] = useState('');
  const [settle, setSettle] = useState<Settlement>('credit');
  const body = {
    invoice_id: invoice.id,
    lines: [...lines],
    reason: reason.trim(),
    settle,
  } satisfies Schemas['CreateCreditNoteDto'];
  return (
    <ActionDialog<CreditNote>
      title={`Credit ${invoice.number ?? 'the invoice'}`}
      action="Credit an invoice"
      submitLabel={total === 0 ? 'Credit' : `Credit ${money(total, currency)} before tax`}
      isReady={isWithinLimits}
      request={(idempotencyKey) =>
        isComplete && body.reason !== ''
          ? { method: 'POST', path: '/v1/credit-notes', body, idempotencyKey }
          : null
      }
      done={({ number, total, to_refund, currency: of }) => {
        const issued = `Credit note ${number}: ${money(total, of)} with tax`;
        return to_refund === 0
          ? issued
          : `${issued}. Not refunded yet: refund ${money(to_refund, of)} on the payment`;
      }}
      explain={(problem) => amountRefusal(problem, currency)}
      onClose={onClose}
    >
      {fields}
      <TextInput
        label="Reason"
        hint="Printed on the credit note."
        maxLength={500}
        value={reason}
        onChange={setReason}
      />
      <SelectInput
        label="Settlement"
        options={SETTLEMENTS}
        value={settle}
        onChange={(value) => setSettle(value as Settlement)}
      />
    </ActionDialog>
  );
}
