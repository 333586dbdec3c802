import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import type { CreditNote } from '../api/objects';
import { money, parseMoney } from '../format/money';
import { ActionDialog } from '../ui/dialog';
import { SelectInput, TextInput } from '../ui/field';

type Settlement = Schemas['CreateCreditNoteDto']['settle'];

const SETTLEMENTS: readonly (readonly [Settlement, string])[] = [
  ['credit', 'To the invoice, then to the credit balance'],
  ['refund', 'Refund what was paid'],
];

export interface CreditNoteDialogProps {
  readonly invoice: Schemas['InvoiceDto'];
  readonly onClose: () => void;
}

/** Credits amounts of the lines of an invoice, before tax. */
export function CreditNoteDialog({ invoice, onClose }: CreditNoteDialogProps): ReactNode {
  const { currency } = invoice;
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const [reason, setReason] = useState('');
  const [settle, setSettle] = useState<Settlement>('credit');
  const charges = invoice.lines.filter(({ amount }) => amount > 0);
  const faultOf = (line: Schemas['InvoiceLineDto']): string | null => {
    const text = texts[line.id] ?? '';
    if (text.trim() === '') return null;
    const minor = parseMoney(text, currency);
    if (minor === null || minor === 0) return `Not an amount of ${currency}.`;
    return minor > line.amount ? `At most ${money(line.amount, currency)}.` : null;
  };
  const lines = charges.flatMap((line) => {
    const minor = parseMoney(texts[line.id] ?? '', currency);
    return minor === null || minor === 0 ? [] : [{ invoice_line_id: line.id, amount: minor }];
  });
  const isReady =
    lines.length > 0 && reason.trim() !== '' && charges.every((line) => faultOf(line) === null);
  const body = {
    invoice_id: invoice.id,
    lines,
    reason: reason.trim(),
    settle,
  } satisfies Schemas['CreateCreditNoteDto'];
  const total = lines.reduce((sum, { amount }) => sum + amount, 0);
  return (
    <ActionDialog<CreditNote>
      title={`Credit ${invoice.number ?? 'the invoice'}`}
      submitLabel={total === 0 ? 'Credit' : `Credit ${money(total, currency)} before tax`}
      request={(idempotencyKey) =>
        isReady ? { method: 'POST', path: '/v1/credit-notes', body, idempotencyKey } : null
      }
      done={(note) => `Credit note ${note.number}: ${money(note.total, note.currency)} with tax`}
      onClose={onClose}
    >
      {charges.map((line) => (
        <TextInput
          key={line.id}
          label={`${line.description.slice(0, 120)}, of ${money(line.amount, currency)}`}
          inputMode="decimal"
          value={texts[line.id] ?? ''}
          fault={faultOf(line)}
          onChange={(text) => setTexts({ ...texts, [line.id]: text })}
        />
      ))}
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
