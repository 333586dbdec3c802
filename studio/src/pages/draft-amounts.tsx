import type { ReactNode } from 'react';
import { api, isNotFound, read, type Schemas } from '../api/client';
import type { Invoice } from '../api/objects';
import { money } from '../format/money';
import { showPeriod, showZone } from '../format/text';
import { Failure } from '../ui/loaded';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';
import { useInvoiceZones } from './invoice-zones';

type DraftUsage = Schemas['CustomerUsageItemDto'];

const USAGE_LINES: readonly Invoice['lines'][number]['type'][] = ['usage', 'minimum', 'maximum'];

/**
 * Reads the usage that a draft would bill now. A one-off invoice bills only the lines that it has, so it has no usage.
 * Returns null if the customer is deleted, because its usage cannot be read.
 */
export async function readDraftUsage({
  id,
  customer_id,
  finalizes_at,
}: Invoice): Promise<readonly DraftUsage[] | null> {
  if (finalizes_at === null) return [];
  const path = { id: customer_id };
  try {
    const { data } = await read(api.GET('/v1/customers/{id}/usage', { params: { path } }));
    return data.filter(({ invoice_id }) => invoice_id === id);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

/** Returns what the lines of the draft charge for the usage of a price. */
function chargedBy({ lines }: Invoice, { price_id, period_start }: DraftUsage): number {
  const charging = lines.filter(
    (line) =>
      line.price_id === price_id &&
      line.period_start === period_start &&
      USAGE_LINES.includes(line.type),
  );
  return charging.reduce((sum, { amount }) => sum + amount, 0);
}

/** Shows what a draft charges, and what it would charge for its usage now. The API does not calculate its total in advance. */
export function DraftAmounts({
  draft,
  usage,
}: {
  readonly draft: Invoice;
  /** Null if it cannot be read. */
  readonly usage: readonly DraftUsage[] | null;
}): ReactNode {
  const { currency, total, finalizes_at } = draft;
  if (finalizes_at === null) {
    return (
      <p>
        The draft has a total of {money(total, currency)}. Taxes and credit are calculated again
        when it is finalized.
      </p>
    );
  }
  return (
    <>
      <p>
        The total is calculated when the draft is finalized: usage that was reported late is added.
        The draft was made with a total of {money(total, currency)}.
      </p>
      {usage === null ? (
        <p role="status">The customer is deleted, so its present usage cannot be read.</p>
      ) : (
        <PresentUsage draft={draft} usage={usage} />
      )}
    </>
  );
}

function PresentUsage({
  draft,
  usage,
}: {
  readonly draft: Invoice;
  readonly usage: readonly DraftUsage[];
}): ReactNode {
  const { currency, subtotal } = draft;
  const { ofPeriods, failed } = useInvoiceZones(draft);
  const amount = (minor: number): string => money(minor, currency);
  const added = usage.reduce((sum, one) => sum + one.amount - chargedBy(draft, one), 0);
  return (
    <>
      {usage.length > 0 && failed !== undefined && <Failure query={failed} />}
      {usage.length > 0 && (
        <SmallTable
          label="Usage of the draft"
          rows={usage}
          keyOf={({ price_id, period_start }) => `${price_id} ${period_start}`}
          columns={[
            { title: 'Usage', cell: ({ name }) => name },
            {
              title: `Period (${showZone(ofPeriods)})`,
              cell: ({ period_start, period_end }) =>
                showPeriod(period_start, period_end, ofPeriods),
            },
            { title: 'In the draft', isNumber: true, cell: (one) => amount(chargedBy(draft, one)) },
            { title: 'Now', isNumber: true, cell: (one) => amount(one.amount) },
          ]}
        />
      )}
      <p role="status">
        With the usage until now, the lines add up to <strong>{amount(subtotal + added)}</strong>.
      </p>
      <p className={css['hint']}>
        Before discounts and taxes, and without late usage of earlier invoices.
      </p>
    </>
  );
}
