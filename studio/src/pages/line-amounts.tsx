import { type ReactNode, useState } from 'react';
import type { Invoice } from '../api/objects';
import { money, parseMoney } from '../format/money';
import { TextInput } from '../ui/field';

type ChargeLine = Invoice['lines'][number];

export interface LineAmounts {
  /** Lines with an amount, before tax in minor units. */
  readonly lines: readonly { readonly invoice_line_id: string; readonly amount: number }[];
  readonly total: number;
  /** False while a text is not a valid amount of its line, or all texts are empty. */
  readonly isValid: boolean;
  readonly fields: ReactNode;
}

function faultOf(text: string, line: ChargeLine, currency: string): string | null {
  if (text.trim() === '') return null;
  const minor = parseMoney(text, currency);
  if (minor === null) return `Not an amount of ${currency}.`;
  return minor > line.amount ? `At most ${money(line.amount, currency)}.` : null;
}

/** Fields for an amount of each line of an invoice that charges something. 0 takes the tax of a line without a net amount. */
export function useLineAmounts(invoice: Invoice | undefined): LineAmounts {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const currency = invoice?.currency ?? '';
  const charges = (invoice?.lines ?? []).filter(({ amount }) => amount > 0);
  const faults = charges.map((line) => faultOf(texts[line.id] ?? '', line, currency));
  const lines = charges.flatMap((line) => {
    const minor = parseMoney(texts[line.id] ?? '', currency);
    return minor === null ? [] : [{ invoice_line_id: line.id, amount: minor }];
  });
  return {
    lines,
    total: lines.reduce((sum, { amount }) => sum + amount, 0),
    isValid: lines.length > 0 && faults.every((fault) => fault === null),
    fields: charges.map((line, index) => (
      <TextInput
        key={line.id}
        label={`${line.description.slice(0, 120)}, of ${money(line.amount, currency)}`}
        inputMode="decimal"
        value={texts[line.id] ?? ''}
        fault={faults[index]}
        onChange={(text) => setTexts({ ...texts, [line.id]: text })}
      />
    )),
  };
}
