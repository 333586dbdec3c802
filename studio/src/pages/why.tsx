import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { $api, api, read, type Schemas } from '../api/client';
import { money } from '../format/money';
import { showInstant, showNumber, showPeriodIn } from '../format/text';
import { Loaded } from '../ui/loaded';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';

const EVENTS_SHOWN = 50;

type LineExplanation = Schemas['ExplanationDto'];
type TraceStep = Schemas['TraceStepDto'];
type CreditTrace = Schemas['CreditTraceDto'];
type Proration = Schemas['TracedProrationDto'] | Schemas['ProrationDto'];

const STEP_NAMES: Readonly<Record<string, string>> = {
  flat: 'Flat amount',
  unit: 'Units',
  package: 'Packages',
  rate: 'Percentage',
  fixed: 'Fixed amount for each event',
  event_minimum: 'Raised to the minimum for each event',
  event_maximum: 'Lowered to the maximum for each event',
};

function stepText({ kind, tier, quantity, unit_amount, flat_amount }: TraceStep): string {
  const name = kind === 'tier' ? `Tier ${(tier ?? 0) + 1}` : (STEP_NAMES[kind] ?? kind);
  const units = quantity === '0' ? [] : [`${quantity} × ${unit_amount}`];
  const flat = flat_amount === '0' ? [] : [`${flat_amount} flat`];
  return `${name}: ${[...units, ...flat].join(' + ') || '0'}`;
}

function shareText({ numerator, denominator, unit }: Proration): string {
  return `${numerator} of ${denominator} ${unit}s of the full period`;
}

/** Returns a text that names a group of usage. `names` are the properties that the meter groups by (`group_by`). */
function groupText(group: Schemas['TracedPartDto']['group'], names: readonly string[]): string {
  if (group === null || group.length === 0) return '';
  return ` for ${group.map((text, index) => `${names[index] ?? ''} ${text ?? 'none'}`).join(', ')}`;
}

export interface WhyProps {
  readonly invoiceId: string;
  readonly lineId: string;
  readonly currency: string;
}

/** Explains the amount of a line: events, steps, rounding, discounts and taxes, which the service calculates again. */
export function Why({ invoiceId, lineId, currency }: WhyProps): ReactNode {
  const params = { params: { path: { id: invoiceId, line_id: lineId } } } as const;
  const explanation = $api.useQuery('get', '/v1/invoices/{id}/lines/{line_id}/explanation', params);
  return (
    <Loaded query={explanation}>
      {(data) => (
        <div className={css['body']}>
          <LineSteps explanation={data} currency={currency} />
          {data.trace.kind === 'usage' && <CountedEvents invoiceId={invoiceId} lineId={lineId} />}
          <details>
            <summary>All stored terms</summary>
            <pre className="mono" tabIndex={0}>
              {JSON.stringify(data.trace, null, 2)}
            </pre>
          </details>
        </div>
      )}
    </Loaded>
  );
}

/** Lists the steps by which the amount of a line was calculated. */
export function LineSteps({
  explanation,
  currency,
}: {
  readonly explanation: LineExplanation;
  readonly currency: string;
}): ReactNode {
  const { line, trace, price_name, exact_amount, evaluated, matches } = explanation;
  const { full_period_start, full_period_end, time_zone } = explanation;
  return (
    <ol className={css['steps']}>
      {price_name !== null && <li>Price {price_name}.</li>}
      {trace.kind === 'usage' && (
        <li>
          Usage of the meter {trace.meter.key}, {trace.meter.aggregation} of its events,{' '}
          {showPeriodIn(time_zone ?? 'UTC', full_period_start, full_period_end)}.
        </li>
      )}
      {trace.kind === 'usage' &&
        trace.parts.map((part) => (
          <li key={JSON.stringify(part.group)}>
            {showNumber(part.events)} events{groupText(part.group, trace.meter.group_by)}: quantity{' '}
            {part.quantity}.
            <StepList steps={part.steps} />
          </li>
        ))}
      {trace.kind === 'rated' && (
        <li>
          Quantity {trace.quantity}, for the full period:
          <StepList steps={trace.steps} />
        </li>
      )}
      {trace.kind === 'usage' && (
        <LateUsage trace={trace} amount={evaluated.amount} currency={currency} />
      )}
      {trace.kind === 'true_up' && (
        <li>
          Without a limit, {money(trace.billed, currency)} is billed.
          {limitsText(trace, currency)}
        </li>
      )}
      {(trace.kind === 'rated' || trace.kind === 'true_up') && trace.proration !== null && (
        <li>Prorated: {shareText(trace.proration)}.</li>
      )}
      {trace.kind === 'usage' && line.proration !== null && (
        <li>Without usage, the fee is prorated: {shareText(line.proration)}.</li>
      )}
      {trace.kind === 'credit' && <CreditSteps trace={trace} currency={currency} />}
      <li>
        {exact_amount === null
          ? 'The line is '
          : `Exactly ${exact_amount} minor units, rounded once to `}
        <strong>{money(evaluated.amount, currency)}</strong>; discount{' '}
        {money(evaluated.discount, currency)}, tax {money(evaluated.tax, currency)}.
      </li>
      <li>
        Computed again just now: <strong>{matches ? '✓ equals' : '✗ differs from'}</strong> the
        stored {money(line.amount, currency)}.
      </li>
    </ol>
  );
}

/** Returns the limits of a period as sentences. */
function limitsText(
  { minimum, maximum }: Pick<Schemas['UsageLimitsDto'], 'minimum' | 'maximum'>,
  currency: string,
): string {
  const least = minimum === null ? '' : ` The minimum is ${money(minimum, currency)}.`;
  const most = maximum === null ? '' : ` The maximum is ${money(maximum, currency)}.`;
  return least + most;
}

const mostText = (most: string | undefined, currency: string): string =>
  most === undefined ? '' : `, at most ${money(most, currency)}`;

/** Lists the steps to the credit for the unused part of a line. */
function CreditSteps({
  trace,
  currency,
}: {
  readonly trace: CreditTrace;
  readonly currency: string;
}): ReactNode {
  const { billed, discount, credited, full_amount, unused, held, most } = trace;
  if (held === undefined) {
    return (
      <>
        <li>
          The credited line is {money(billed, currency)}, less a discount of{' '}
          {money(discount, currency)}; {money(credited, currency)} was credited before. The full
          period costs {full_amount} minor units.
        </li>
        <li>
          Credits the unused {shareText(unused)}
          {mostText(most, currency)}.
        </li>
      </>
    );
  }
  return (
    <>
      <li>
        The credited line, with its minimum or maximum, is {money(billed, currency)}. Less a
        discount of {money(discount, currency)} and {money(credited, currency)} credited before,{' '}
        {money(held.held_amount, currency)} is left.
      </li>
      <li>
        Of this, the unused share is credited: {unusedText(trace)}
        {mostText(most, currency)}.
      </li>
    </>
  );
}

/** Returns the unused part of what was billed. The units differ if the price changed between them. */
function unusedText({ unused, billed_proration: billed }: CreditTrace): string {
  if (billed !== null && billed.unit !== unused.unit) {
    return `${shareText(unused)}, of which ${billed.numerator} of ${billed.denominator} ${billed.unit}s were billed`;
  }
  const { numerator, denominator, unit } = unused;
  return `${numerator} of the ${billed?.numerator ?? denominator} ${unit}s that were billed`;
}

/** Lists the steps from the usage of a period to the line that bills late usage. */
function LateUsage({
  trace: { corrects, limits },
  amount,
  currency,
}: {
  readonly trace: Schemas['UsageTraceDto'];
  readonly amount: number;
  readonly currency: string;
}): ReactNode {
  if (corrects === null) return null;
  const { amount: billed, held_amount, quantity, most } = corrects;
  const difference = BigInt(corrects.difference ?? amount);
  const prorated = limits.proration === null ? '' : ` Prorated: ${shareText(limits.proration)}.`;
  const limited = limitsText(limits, currency);
  return (
    <>
      {limited !== '' && (
        <li>
          {limited}
          {prorated}
        </li>
      )}
      <li>
        Late usage: the period costs {money(BigInt(billed) + difference, currency)} now.{' '}
        {money(billed, currency)} was billed before, for a quantity of {quantity}. The difference is{' '}
        {money(difference, currency)}.
      </li>
      {difference < 0n && (
        <li>
          Discounts and credits left {money(held_amount, currency)} of what was billed. Its share is
          given back{mostText(most, currency)}.
        </li>
      )}
    </>
  );
}

function StepList({ steps }: { readonly steps: readonly TraceStep[] }): ReactNode {
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
      <Loaded query={events}>
        {({ data }) => (
          <SmallTable
            label="Events counted"
            rows={data}
            keyOf={({ idempotency_key }) => idempotency_key}
            columns={[
              {
                title: 'Key',
                cell: (event) => <span className="mono">{event.idempotency_key}</span>,
              },
              { title: 'Time', cell: ({ timestamp }) => showInstant(timestamp) },
              {
                title: 'Properties',
                full: ({ properties }) => JSON.stringify(properties),
                cell: ({ properties }) => (
                  <span className="mono">{JSON.stringify(properties)}</span>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
