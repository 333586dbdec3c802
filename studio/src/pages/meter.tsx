import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api, isNotFound } from '../api/client';
import { showCode, showDay, showInstant, showNumber, showText } from '../format/text';
import { Button } from '../ui/button';
import { CUSTOMER_NAME_COLUMN } from '../ui/columns';
import { TextInput } from '../ui/field';
import { Id } from '../ui/links';
import { Loaded, PendingPage } from '../ui/loaded';
import { Card, Details, Page, Problem } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';
import { useCustomerClock } from './customer-clock';
import { MeterTotals } from './meter-totals';
import { windowsUntil } from './usage-bars';

interface ProofProps {
  readonly meterId: string;
  readonly customerId: string;
}

/** Proof that every accepted event of a customer today is billed, pending or unbillable. */
function Proof({ meterId, customerId }: ProofProps): ReactNode {
  const [openedAt] = useState(() => new Date().toISOString());
  const customer = $api.useQuery('get', '/v1/customers/{id}', {
    params: { path: { id: customerId } },
  });
  const clock = useCustomerClock(customer.data?.test_clock_id);
  // A deleted customer cannot be read, but its events can be counted.
  const isGone = isNotFound(customer.error);
  const isOnNoClock = isGone || customer.data?.test_clock_id === null;
  const now = isOnNoClock ? openedAt : clock.data?.now;
  const failed = [customer, clock].find(({ data, error }) => data === undefined && error !== null);
  if (failed !== undefined && !isGone)
    return <Problem error={failed.error} onRetry={() => void failed.refetch()} />;
  if (now === undefined) return <p role="status">Counting…</p>;
  return <Counts meterId={meterId} customerId={customerId} now={now} />;
}

interface CountsProps extends ProofProps {
  /** Instant whose day is counted. */
  readonly now: string;
}

function Counts({ meterId, customerId, now }: CountsProps): ReactNode {
  const range = windowsUntil(now, 'day', 1);
  const proof = $api.useQuery('get', '/v1/meters/{id}/proof', {
    params: { path: { id: meterId }, query: { customer_id: customerId, ...range } },
  });
  return (
    <Loaded query={proof}>
      {(counts) => (
        <Details
          items={[
            ['Day (UTC)', showDay(range.from)],
            ['Accepted', showNumber(counts.accepted)],
            ['Duplicates', showNumber(counts.duplicates)],
            ['Rejected', showNumber(counts.rejected)],
            ['Voided', showNumber(counts.voided)],
            ['Counted', showNumber(counts.counted)],
            ['Billed', showNumber(counts.billed)],
            ['Pending', showNumber(counts.pending)],
            ['Unbillable', showNumber(counts.unbillable)],
          ]}
        />
      )}
    </Loaded>
  );
}

/** Customers with the largest usage of the last 30 days. */
function TopCustomers({ meterId }: { readonly meterId: string }): ReactNode {
  const [range] = useState(() => windowsUntil(new Date().toISOString(), 'day', 30));
  const customers = $api.useQuery('get', '/v1/meters/{id}/customers', {
    params: { path: { id: meterId }, query: range },
  });
  const { data } = customers;
  return (
    <Card
      title="Top customers of the last 30 days (UTC)"
      aside={
        data !== undefined && (
          <span className="muted">
            All customers with usage: {showNumber(data.customers)}, sum {showNumber(data.total)}
          </span>
        )
      }
    >
      <Loaded query={customers}>
        {({ data: rows }) => (
          <SmallTable
            label="Top customers"
            rows={rows}
            keyOf={({ customer_id }) => customer_id}
            empty="No usage. Customers on test clocks are left out."
            columns={[
              CUSTOMER_NAME_COLUMN,
              { title: 'Usage', isNumber: true, cell: ({ value }) => showNumber(value) },
            ]}
          />
        )}
      </Loaded>
    </Card>
  );
}

export function MeterPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const [text, setText] = useState('');
  const [customerId, setCustomerId] = useState('');
  const meter = $api.useQuery('get', '/v1/meters/{id}', { params: { path: { id } } });
  const { data } = meter;
  if (data === undefined) return <PendingPage title="Meter" query={meter} />;
  return (
    <Page
      title={data.name}
      query={meter}
      mark={<Status value={data.status} />}
      crumb={{ to: '/meters', label: 'Meters' }}
    >
      <Card title="Overview">
        <Details
          items={[
            ['Key', data.key],
            ['Event', data.event_name],
            ['Aggregation', showCode(data.aggregation)],
            ['Value property', showText(data.value_property)],
            ['Group by', showText(data.group_by.join(', '))],
            ['Late events', showCode(data.late_events)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      <MeterTotals meter={data} />
      <TopCustomers meterId={id} />
      <Card title="Proof of usage today">
        <form
          className={css['body']}
          onSubmit={(event) => {
            event.preventDefault();
            setCustomerId(text.trim());
          }}
        >
          <TextInput
            label="Customer id"
            hint="Counts the events of one customer on its present day: counted = billed + pending + unbillable."
            value={text}
            onChange={setText}
          />
          <Button type="submit">Count</Button>
        </form>
        {customerId !== '' && <Proof meterId={id} customerId={customerId} />}
      </Card>
    </Page>
  );
}
