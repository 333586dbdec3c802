import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, read, type Schemas } from '../api/client';
import { money } from '../format/money';
import { Button } from '../ui/button';
import { ObjectLink } from '../ui/links';
import { Problem } from '../ui/page';
import css from '../ui/ui.module.css';
import { LineSteps } from './why';

const LINES_SHOWN = 50;

type InvoiceAmounts = Schemas['InvoiceExplanationDto'];

/** Explains an invoice: its lines one by one, and how its totals follow from them. */
export function InvoiceExplanation({ invoiceId }: { readonly invoiceId: string }): ReactNode {
  const query = useInfiniteQuery({
    queryKey: ['invoice-explanation', invoiceId],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam: cursor }) =>
      read(
        api.GET('/v1/invoices/{id}/explanation', {
          params: {
            path: { id: invoiceId },
            query: { limit: LINES_SHOWN, ...(cursor !== null && { cursor }) },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor,
  });
  const first = query.data?.pages[0];
  if (first === undefined) {
    return (
      <div className={css['body']}>
        {query.isLoading ? <p role="status">Computing…</p> : null}
        <Problem error={query.error} />
      </div>
    );
  }
  const lines = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <div className={css['body']}>
      {lines.map((explanation) => {
        const { line, matches } = explanation;
        return (
          <details key={line.id} className={css['explained']}>
            <summary>
              <bdi>{line.description}</bdi>: <strong>{money(line.amount, first.currency)}</strong>{' '}
              {matches ? '✓' : '✗'}
            </summary>
            <LineSteps explanation={explanation} currency={first.currency} />
          </details>
        );
      })}
      <Problem error={query.error} />
      {query.hasNextPage && (
        <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          More lines
        </Button>
      )}
      <h3>How the total follows</h3>
      <Totals explanation={first} />
    </div>
  );
}

function Totals({ explanation }: { readonly explanation: InvoiceAmounts }): ReactNode {
  const { stored, evaluated, discounts, taxes, tax_note, credits, currency } = explanation;
  const { status, amount_paid, amount_credited, amount_remaining, matches } = explanation;
  const amount = (minor: number): string => money(minor, currency);
  return (
    <ol className={css['steps']}>
      <li>
        The lines add up to the subtotal, <strong>{amount(evaluated.subtotal)}</strong>.
      </li>
      {discounts.map((discount, index) => (
        <li key={`${discount.id} ${index}`}>
          Less {amount(discount.amount)} for the coupon of <ObjectLink id={discount.id} />,{' '}
          {offText(discount, currency)}.
        </li>
      ))}
      {taxes.map((tax) => (
        <li key={tax.tax_rate_id}>
          {tax.inclusive ? 'Holds' : 'Plus'} {amount(tax.tax)} of <bdi>{tax.name}</bdi>:{' '}
          {tax.percentage} % of {amount(tax.taxable)}.
        </li>
      ))}
      {tax_note !== null && (
        <li>No tax: {tax_note === 'exempt' ? 'the customer is exempt' : 'reverse charge'}.</li>
      )}
      <li>
        Total <strong>{amount(evaluated.total)}</strong>.
      </li>
      {credits.map(({ source_id, amount: used }, index) => (
        <li key={source_id ?? index}>
          Less {amount(used)} of the credit from <ObjectLink id={source_id} />.
        </li>
      ))}
      {evaluated.credited_to_balance > 0 && (
        <li>{amount(evaluated.credited_to_balance)} become credit of the customer.</li>
      )}
      <li>
        Amount due <strong>{amount(evaluated.amount_due)}</strong>; paid {amount(amount_paid)},
        credited {amount(amount_credited)}, remaining{status === 'void' && ' when it was voided'}{' '}
        {amount(amount_remaining)}.
      </li>
      {status === 'void' && (
        <li>The invoice is void: nothing is owed, and the credit that it used was returned.</li>
      )}
      <li>
        Computed again just now: <strong>{matches ? '✓ equals' : '✗ differs from'}</strong> the
        stored total of {amount(stored.total)} and all stored lines.
      </li>
    </ol>
  );
}

function offText(
  { percent_off, amount_off }: InvoiceAmounts['discounts'][number],
  currency: string,
): string {
  return percent_off === null
    ? `which could take off ${money(amount_off ?? 0, currency)}`
    : `${percent_off} % off`;
}
