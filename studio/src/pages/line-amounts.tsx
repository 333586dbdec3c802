import { type ReactNode, useState } from 'react';
import type { Invoice } from '../api/objects';
import { money, parseMoney } from '../format/money';
import { TextInput } from '../ui/field';
import { Problem } from '../ui/page';
import { useCreditable } from './creditable';

export interface LineAmounts {
  /** Lines for which an amount was entered, in minor units before tax. */
  readonly lines: readonly { readonly invoice_line_id: string; readonly amount: number }[];
  readonly total: number;
  /** False while all fields are empty, or a field contains no amount. */
  readonly isComplete: boolean;
  /** False while the limits are loading, or while an amount exceeds the limit of its line. */
  readonly isWithinLimits: boolean;
  readonly fields: ReactNode;
}

function faultOf(text: string, limit: number, currency: string): string | null {
  if (text.trim() === '') return null;
  const minor = parseMoney(text, currency);
  if (minor === null) return `Not an amount of ${currency}.`;
  return minor > limit ? `At most ${money(limit, currency)}.` : null;
}

function hintOf(
  amount: number,
  limit: number,
  maxTotal: number,
  currency: string,
): string | undefined {
  if (limit === maxTotal) return 'Not more than can be refunded, with tax.';
  if (limit === 0) return 'Nothing is left before tax. 0 takes tax that is left.';
  if (limit === amount) return undefined;
  return `Of ${money(amount, currency)}, less discounts, tax within it, rebates and earlier credits.`;
}

/**
 * Returns a field for each line with a positive amount. If nothing but tax is left of a line, the amount 0 credits the
 * tax.
 * @param maxTotal largest total of the credit note with tax, in minor units
 */
export function useLineAmounts(invoice: Invoice | undefined, maxTotal = Infinity): LineAmounts {
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const { creditableOf, creditableInAll, isLoading, error } = useCreditable(invoice);
  const currency = invoice?.currency ?? '';
  const charges = (invoice?.lines ?? [])
    .filter(({ amount }) => amount > 0)
    .map((line) => ({
      line,
      text: texts[line.id] ?? '',
      limit: Math.min(creditableOf(line), maxTotal),
    }));
  const lines = charges.flatMap(({ line, text }) => {
    const minor = parseMoney(text, currency);
    return minor === null ? [] : [{ invoice_line_id: line.id, amount: minor }];
  });
  const total = lines.reduce((sum, { amount }) => sum + amount, 0);
  const faults = charges.map(
    ({ text, limit }) =>
      faultOf(text, limit, currency) ??
      (total > creditableInAll && text.trim() !== ''
        ? `All lines together: at most ${money(creditableInAll, currency)}.`
        : null),
  );
  return {
    lines,
    total,
    isComplete:
      lines.length > 0 && lines.length === charges.filter(({ text }) => text.trim() !== '').length,
    isWithinLimits: !isLoading && faults.every((fault) => fault === null),
    fields: (
      <>
        <Problem error={error} />
        {charges.map(({ line, text, limit }, index) => (
          <TextInput
            key={line.id}
            label={
              <>
                <bdi>{line.description.slice(0, 120)}</bdi>
                {!isLoading && `, of ${money(limit, currency)}`}
              </>
            }
            hint={isLoading ? 'Loading…' : hintOf(line.amount, limit, maxTotal, currency)}
            inputMode="decimal"
            value={text}
            fault={isLoading ? null : faults[index]}
            onChange={(entered) => setTexts({ ...texts, [line.id]: entered })}
          />
        ))}
      </>
    ),
  };
}
