import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import {
  type ListPath,
  type Parameters,
  readPage,
  readSummary,
  type RowOf,
  type Summary,
} from '../api/lists';
import { money } from '../format/money';
import { showNumber } from '../format/text';
import { Page } from '../ui/page';
import css from '../ui/ui.module.css';
import { RecurringRevenue } from './recurring-revenue';
import { Receivables } from './receivables';

const WEEK_MS = 7 * 86_400_000;
const COUNTED = 100;
/** The tiles leave out customers on test clocks, as the reports do. */
const REAL_TIME = { test_clock_id: 'none' } as const;

interface TileProps {
  readonly title: string;
  /** Null while it is loading. */
  readonly count: string | null;
  readonly detail: string | null;
  readonly isFine: boolean;
  readonly to: string;
  readonly search: Readonly<Record<string, string>>;
}

/** A link to the objects that need attention, with their number. */
function Tile({ title, count, detail, isFine, to, search }: TileProps): ReactNode {
  return (
    <Link className={css['tile']} data-fine={isFine} to={to} search={search as never}>
      <span>{title}</span>
      <strong>{count ?? '…'}</strong>
      <span className="muted">{detail ?? (isFine && count !== null ? 'Nothing to do' : '')}</span>
    </Link>
  );
}

function sumText({ currencies }: Summary, field: string): string | null {
  const sums = currencies.flatMap((one) =>
    typeof one.currency === 'string' ? [money(one[field] ?? 0, one.currency)] : [],
  );
  return sums.length === 0 ? null : sums.join(', ');
}

interface SummaryTileProps {
  readonly title: string;
  readonly path: ListPath;
  readonly to: string;
  readonly filters: Readonly<Record<string, string>>;
  /** Parameters of the request. Default: the filters of the linked list. */
  readonly query?: Parameters;
  readonly sum?: string;
}

function SummaryTile({ title, path, to, filters, query, sum }: SummaryTileProps): ReactNode {
  const parameters = query ?? filters;
  const { data, isError } = useQuery({
    queryKey: ['summary', path, parameters],
    queryFn: () => readSummary(path, parameters),
  });
  return (
    <Tile
      title={title}
      count={isError ? '–' : data === undefined ? null : showNumber(data.count)}
      detail={data === undefined || isError || sum === undefined ? null : sumText(data, sum)}
      isFine={data?.count === 0 && !isError}
      to={to}
      search={filters}
    />
  );
}

interface CountTileProps<Path extends ListPath> extends Omit<SummaryTileProps, 'query' | 'sum'> {
  readonly path: Path;
  /** Returns true for the rows to count. Needed only if the filters also match rows that do not count. */
  readonly counts?: (row: RowOf<Path>) => boolean;
}

/** Counts the rows on the first page of a list that has no summary. */
function CountTile<Path extends ListPath>(props: CountTileProps<Path>): ReactNode {
  const { title, path, to, filters, counts = () => true } = props;
  const { data, isError } = useQuery({
    queryKey: ['count', path, filters],
    queryFn: () => readPage(path, { ...filters, limit: COUNTED }),
  });
  const count = isError ? undefined : data?.data.filter(counts).length;
  const more = typeof data?.next_cursor === 'string' ? '+' : '';
  return (
    <Tile
      title={title}
      count={isError ? '–' : count === undefined ? null : `${count}${count === 0 ? '' : more}`}
      detail={count === 0 && more !== '' ? `None of the newest ${COUNTED}` : null}
      isFine={count === 0}
      to={to}
      search={filters}
    />
  );
}

function Attention(): ReactNode {
  const [weekAgo] = useState(() => new Date(Date.now() - WEEK_MS).toISOString().slice(0, 10));
  return (
    <section aria-labelledby="attention">
      <h2 id="attention" className="visually-hidden">
        Needs attention
      </h2>
      <div className={css['tiles']}>
        <SummaryTile
          title="Overdue invoices"
          path="/v1/invoices"
          to="/invoices"
          filters={{ status: 'open', overdue: 'true', ...REAL_TIME, sort: 'due_at' }}
          query={{ status: 'open', overdue: 'true', ...REAL_TIME }}
          sum="amount_remaining"
        />
        <SummaryTile
          title="Failed payments, 7 days"
          path="/v1/payments"
          to="/payments"
          filters={{ status: 'failed', created_from: weekAgo, ...REAL_TIME }}
          query={{ status: 'failed', created_from: `${weekAgo}T00:00:00Z`, ...REAL_TIME }}
          sum="amount"
        />
        <SummaryTile
          title="Subscriptions past due"
          path="/v1/subscriptions"
          to="/subscriptions"
          filters={{ status: 'past_due,unpaid', ...REAL_TIME }}
        />
        <SummaryTile
          title="Draft invoices"
          path="/v1/invoices"
          to="/invoices"
          filters={{ status: 'draft', ...REAL_TIME }}
          sum="total"
        />
        <CountTile
          title="Failed deliveries"
          path="/v1/webhooks/deliveries"
          to="/webhooks"
          filters={{ status: 'failed' }}
        />
        <CountTile
          title="Deliveries retrying"
          path="/v1/webhooks/deliveries"
          to="/webhooks"
          filters={{ status: 'pending' }}
          counts={({ attempt_count }) => attempt_count > 0}
        />
        <CountTile
          title="Open disputes"
          path="/v1/disputes"
          to="/disputes"
          filters={{ status: 'open' }}
        />
      </div>
    </section>
  );
}

/** Explains the first steps while there are no customers. */
function FirstSteps(): ReactNode {
  const customers = $api.useQuery('get', '/v1/customers', { params: { query: { limit: 1 } } });
  if (customers.data === undefined || customers.data.data.length > 0) return null;
  return (
    <p className={css['notice']}>
      There are no customers yet. Create one under <Link to="/customers">Customers</Link>, or run{' '}
      <code>npm run demo -- --story</code> for a company with a year of history.
    </p>
  );
}

export function HomePage(): ReactNode {
  return (
    <Page title="Home">
      <FirstSteps />
      <Attention />
      <RecurringRevenue shows="revenue" />
      <Receivables isByCustomer={false} />
    </Page>
  );
}
