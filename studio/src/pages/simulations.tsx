import { type ReactNode, useId, useState } from 'react';
import { type Schemas, sendForLines } from '../api/client';
import type { CustomerLine } from '../api/objects';
import { planOption, useOfferedPlans } from '../api/offered';
import { money } from '../format/money';
import { showNumber } from '../format/text';
import { Button } from '../ui/button';
import { CopyAsCurl } from '../ui/dialog';
import { SelectInput, TextInput } from '../ui/field';
import { CustomerLink } from '../ui/links';
import { PendingPage } from '../ui/loaded';
import { Card, Details, Page, Problem } from '../ui/page';
import { useSingleMutation } from '../ui/single-mutation';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';

type Line =
  | Schemas['SimulationCustomerLineDto']
  | Schemas['SimulationProgressLineDto']
  | Schemas['SimulationTotalsLineDto']
  | Schemas['SimulationProblemLineDto'];

const CUSTOMERS_SHOWN = 50;
const YEAR_MS = 366 * 86_400_000;

/** Returns the prices of a plan as JSON for a new version of the plan, without ids and without unset fields. */
function editable(prices: readonly Schemas['PriceDto'][]): string {
  const inputs = prices.map(({ id: _, ...price }) =>
    Object.fromEntries(Object.entries(price).filter(([, value]) => value !== null)),
  );
  return JSON.stringify(inputs, null, 2);
}

function parsedPrices(text: string): Schemas['PriceInputDto'][] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? (value as Schemas['PriceInputDto'][]) : null;
  } catch {
    return null;
  }
}

interface SimulationRequest {
  readonly currency: string;
  readonly method: 'POST';
  readonly path: '/v1/prices/simulations';
  readonly body: Schemas['SimulatePricesDto'];
}

interface Progress {
  readonly customers: readonly CustomerLine[];
  readonly progress: Schemas['SimulationProgressLineDto'] | null;
  readonly totals: readonly Schemas['SimulationTotalsLineDto'][];
  readonly problem: string | null;
}

const NOTHING: Progress = { customers: [], progress: null, totals: [], problem: null };

/**
 * Adds a line of the response to the progress. Keeps only the {@link CUSTOMERS_SHOWN} customers with the greatest
 * differences.
 */
function withLine(state: Progress, line: Line): Progress {
  switch (line.type) {
    case 'customer': {
      const customers = [...state.customers, line].sort(
        (one, other) => Math.abs(other.difference) - Math.abs(one.difference),
      );
      return { ...state, customers: customers.slice(0, CUSTOMERS_SHOWN) };
    }
    case 'progress':
      return { ...state, progress: line };
    case 'totals':
      return { ...state, totals: [...state.totals, line] };
    case 'problem':
      // A part of the customers is no result.
      return { ...NOTHING, problem: line.detail };
  }
}

export function SimulationsPage(): ReactNode {
  const plans = useOfferedPlans();
  const [today] = useState(() => Date.now());
  const [chosen, setChosen] = useState<Schemas['PlanDto'] | null>(null);
  // Edited prices by plan, so that those of one plan are kept while another plan is chosen.
  const [edited, setEdited] = useState<Readonly<Record<string, string>>>({});
  const [from, setFrom] = useState(() => new Date(today - YEAR_MS).toISOString().slice(0, 10));
  const [to, setTo] = useState(() => new Date(today).toISOString().slice(0, 10));
  const [result, setResult] = useState(NOTHING);
  const textId = useId();
  const all = plans.data?.rows ?? [];
  // The first plan stays chosen when newer plans are read.
  if (chosen === null && all[0] !== undefined) setChosen(all[0]);
  const plan = all.find(({ id }) => id === chosen?.id) ?? chosen ?? undefined;
  const run = useSingleMutation({
    mutationFn: async (one: SimulationRequest) => {
      let state = NOTHING;
      setResult(state);
      await sendForLines(one, (read) => {
        const line = read as Line;
        state = withLine(state, line);
        setResult(state);
        return line.type === 'totals' || line.type === 'problem';
      });
    },
    // A part of the customers is no result.
    onError: () => setResult(NOTHING),
  });
  if (plan === undefined && (plans.isPending || plans.isError)) {
    return <PendingPage title="Simulations" query={plans} />;
  }
  if (plan === undefined) {
    return (
      <Page title="Simulations">
        <p className={css['notice']}>
          There are no plans yet. Create one with <code>POST /v1/plans</code>.
        </p>
      </Page>
    );
  }
  const text = edited[plan.id] ?? editable(plan.prices);
  const prices = parsedPrices(text);
  const request: SimulationRequest | null =
    prices === null
      ? null
      : {
          currency: plan.currency,
          method: 'POST',
          path: '/v1/prices/simulations',
          body: {
            plan_id: plan.id,
            prices,
            from: `${from}T00:00:00Z`,
            to: `${to}T00:00:00Z`,
          },
        };
  return (
    <Page title="Simulations">
      <Card title="Try other prices on the usage of the past">
        <form
          className={css['body']}
          onSubmit={(event) => {
            event.preventDefault();
            if (request !== null) run.mutate(request);
          }}
        >
          <div className={css['filters']}>
            <SelectInput
              label="Plan"
              hint={plans.data?.limit ?? ''}
              value={plan.id}
              options={(all.includes(plan) ? all : [plan, ...all]).map(planOption)}
              onChange={(id) => setChosen(all.find((one) => one.id === id) ?? plan)}
            />
            <TextInput label="From (UTC)" type="date" value={from} onChange={setFrom} />
            <TextInput label="Before (UTC)" type="date" value={to} onChange={setTo} />
          </div>
          <div className={css['field']}>
            <label htmlFor={textId}>Prices instead of those of the plan (JSON)</label>
            <textarea
              id={textId}
              className="mono"
              rows={12}
              spellCheck={false}
              value={text}
              aria-invalid={prices === null}
              onChange={({ target }) => setEdited({ ...edited, [plan.id]: target.value })}
            />
            {prices === null && <span className={css['error']}>Not a JSON list of prices.</span>}
          </div>
          <Problem error={run.error} />
          <div className={css['row']}>
            <CopyAsCurl request={request} />
            <Button type="submit" kind="primary" disabled={request === null || run.isPending}>
              {run.isPending ? 'Running…' : 'Run'}
            </Button>
          </div>
        </form>
      </Card>
      {run.variables !== undefined && (
        <>
          {JSON.stringify(run.variables) !== JSON.stringify(request) && (
            <p className={css['notice']}>
              The plan, the dates or the prices were changed after this result. Run it again.
            </p>
          )}
          <Result result={result} currency={run.variables.currency} />
        </>
      )}
    </Page>
  );
}

function Result({
  result,
  currency,
}: {
  readonly result: Progress;
  readonly currency: string;
}): ReactNode {
  const { customers, progress, totals, problem } = result;
  return (
    <>
      {problem !== null && <Problem error={new Error(problem)} />}
      {progress !== null && totals.length === 0 && (
        <p role="status">
          {showNumber(progress.customers)} of {showNumber(progress.of)} customers…
        </p>
      )}
      {totals.map((one) => (
        <Card key={one.currency} title={`Result in ${one.currency}`}>
          <Details
            items={[
              ['Before', money(one.old_amount, one.currency)],
              ['With the new prices', money(one.new_amount, one.currency)],
              ['Difference', money(one.difference, one.currency)],
              ['Customers', showNumber(one.customers)],
              ['Pay less', showNumber(one.winners)],
              ['Pay more', showNumber(one.losers)],
            ]}
          />
        </Card>
      ))}
      {customers.length > 0 && (
        <Card title={`Most affected, at most ${CUSTOMERS_SHOWN}`}>
          <SmallTable
            label="Most affected"
            rows={customers}
            keyOf={({ customer_id }) => customer_id}
            columns={[
              { title: 'Customer', cell: ({ customer_id }) => <CustomerLink id={customer_id} /> },
              {
                title: 'Before',
                isNumber: true,
                cell: ({ old_amount }) => money(old_amount, currency),
              },
              {
                title: 'After',
                isNumber: true,
                cell: ({ new_amount }) => money(new_amount, currency),
              },
              {
                title: 'Difference',
                isNumber: true,
                cell: ({ difference }) => money(difference, currency),
              },
            ]}
          />
        </Card>
      )}
    </>
  );
}
