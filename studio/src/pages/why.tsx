import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { $api, api, read } from '../api/client';
import { money } from '../format/money';
import { showInstant, showNumber, showPeriod } from '../format/text';
import { Problem } from '../ui/page';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';

const EVENTS_SHOWN = 50;

/** Parts of a trace that the console reads. The trace is stored as it was made, so every part may be missing. */
interface TraceView {
  readonly kind?: string;
  readonly quantity?: string;
  readonly price?: { readonly kind?: string; readonly model?: string };
  readonly meter?: { readonly key?: string; readonly aggregation?: string };
  readonly steps?: readonly StepView[];
  readonly parts?: readonly PartView[];
  readonly proration?: ShareOfPeriod | null;
  readonly unused?: ShareOfPeriod | null;
  readonly amount_minor?: string;
}

interface StepView {
  readonly kind: string;
  readonly tier?: number;
  readonly quantity: string;
  readonly unit_amount: string;
  readonly flat_amount: string;
}

interface PartView {
  readonly group: Readonly<Record<string, string | null>> | null;
  readonly quantity: string;
  readonly events: string;
  readonly steps: readonly StepView[];
}

interface ShareOfPeriod {
  readonly numerator: number | string;
  readonly denominator: number | string;
  readonly unit?: string;
}

const STEP_NAMES: Readonly<Record<string, string>> = {
  flat: 'Flat amount',
  unit: 'Units',
  package: 'Packages',
  rate: 'Percentage',
  fixed: 'Fixed amount for each event',
  event_minimum: 'Raised to the minimum for each event',
  event_maximum: 'Lowered to the maximum for each event',
};

function stepText({ kind, tier, quantity, unit_amount, flat_amount }: StepView): string {
  const name = kind === 'tier' ? `Tier ${(tier ?? 0) + 1}` : (STEP_NAMES[kind] ?? kind);
  const units = quantity === '0' ? [] : [`${quantity} × ${unit_amount}`];
  const flat = flat_amount === '0' ? [] : [`${flat_amount} flat`];
  return `${name}: ${[...units, ...flat].join(' + ') || '0'}`;
}

function shareText({ numerator, denominator, unit = 'part' }: ShareOfPeriod): string {
  return `${numerator} of ${denominator} ${unit}s of the full period`;
}

const hasShare = (share: ShareOfPeriod | null | undefined): share is ShareOfPeriod =>
  share !== null && share !== undefined;

function groupText(group: PartView['group']): string {
  if (group === null) return '';
  const values = Object.entries(group).map(([key, value]) => `${key} ${value ?? 'none'}`);
  return ` for ${values.join(', ')}`;
}

export interface WhyProps {
  readonly invoiceId: string;
  readonly lineId: string;
  readonly currency: string;
}

/** Explains the amount of a line: its events, steps, rounding, discounts and taxes, computed again. */
export function Why({ invoiceId, lineId, currency }: WhyProps): ReactNode {
  const params = { params: { path: { id: invoiceId, line_id: lineId } } } as const;
  const explanation = $api.useQuery('get', '/v1/invoices/{id}/lines/{line_id}/explanation', params);
  if (explanation.data === undefined) {
    return (
      <div className={css['body']}>
        {explanation.isLoading ? <p role="status">Computing…</p> : null}
        <Problem error={explanation.error} />
      </div>
    );
  }
  const { line, evaluated, matches, full_period_start, full_period_end, time_zone } =
    explanation.data;
  const trace = explanation.data.trace as TraceView;
  const parts = trace.parts ?? [];
  return (
    <div className={css['body']}>
      <ol className={css['steps']}>
        {trace.meter !== undefined && (
          <li>
            Usage of the meter {trace.meter.key}, {trace.meter.aggregation} of its events,{' '}
            {showPeriod(full_period_start, full_period_end)} ({time_zone ?? 'UTC'}).
          </li>
        )}
        {parts.map((part) => (
          <li key={JSON.stringify(part.group)}>
            {showNumber(part.events)} events{groupText(part.group)}: quantity {part.quantity}.
            <StepList steps={part.steps} />
          </li>
        ))}
        {trace.steps !== undefined && (
          <li>
            Quantity {trace.quantity}, for the full period:
            <StepList steps={trace.steps} />
          </li>
        )}
        {hasShare(trace.proration) && <li>Prorated: {shareText(trace.proration)}.</li>}
        {hasShare(trace.unused) && <li>Credits the unused {shareText(trace.unused)}.</li>}
        <li>
          Rounded once to <strong>{money(evaluated.amount, currency)}</strong>; discount{' '}
          {money(evaluated.discount, currency)}, tax {money(evaluated.tax, currency)}.
        </li>
        <li>
          Computed again just now: <strong>{matches ? '✓ equals' : '✗ differs from'}</strong> the
          stored {money(line.amount, currency)}.
        </li>
      </ol>
      {trace.kind === 'usage' && <CountedEvents invoiceId={invoiceId} lineId={lineId} />}
      <details>
        <summary>All stored terms</summary>
        <pre className="mono" tabIndex={0}>
          {JSON.stringify(trace, null, 2)}
        </pre>
      </details>
    </div>
  );
}

function StepList({ steps }: { readonly steps: readonly StepView[] }): ReactNode {
  return (
    <ul>
      {steps.map((step) => (
        <li key={stepText(step)}>{stepText(step)} (minor units)</li>
      ))}
    </ul>
  );
}

function CountedEvents({ invoiceId, lineId }: Omit<WhyProps, 'currency'>): ReactNode {
  const events = useQuery({
    queryKey: ['line-events', invoiceId, lineId],
    queryFn: () =>
      read(
        api.GET('/v1/invoices/{id}/lines/{line_id}/events', {
          params: { path: { id: invoiceId, line_id: lineId }, query: { limit: EVENTS_SHOWN } },
        }),
      ),
  });
  const more = typeof events.data?.next_cursor !== 'string' ? '' : `, the newest ${EVENTS_SHOWN}`;
  return (
    <>
      <h3>Events counted{more}</h3>
      <Problem error={events.error} />
      <SmallTable
        label="Events counted"
        rows={events.data?.data ?? []}
        keyOf={({ idempotency_key }) => idempotency_key}
        empty={events.isLoading ? 'Loading…' : 'None.'}
        columns={[
          { title: 'Key', cell: (event) => <span className="mono">{event.idempotency_key}</span> },
          { title: 'Time', cell: ({ timestamp }) => showInstant(timestamp) },
          {
            title: 'Properties',
            full: ({ properties }) => JSON.stringify(properties),
            cell: ({ properties }) => <span className="mono">{JSON.stringify(properties)}</span>,
          },
        ]}
      />
    </>
  );
}
