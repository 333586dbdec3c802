import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { $api, api, read } from '../api/client';
import type { Transaction } from '../api/objects';
import { money } from '../format/money';
import { showCode, showInstant } from '../format/text';
import { Button } from '../ui/button';
import { amountColumn, CUSTOMER_COLUMN } from '../ui/columns';
import { CURRENCY, daysOf, type Filter, optionsOf } from '../ui/filters';
import { ObjectLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { Loaded } from '../ui/loaded';
import { Card, Page, Problem } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';

/** Kinds of transactions, by the names of the API. */
const KINDS = [
  'invoice_finalized',
  'payment',
  'refund',
  'credit_note',
  'void',
  'write_off',
  'recovery',
  'revenue_release',
  'credit_applied',
  'dispute_withdrawn',
  'dispute_reinstated',
  'dispute_lost',
] as const;

const FILTERS: readonly Filter[] = [
  { name: 'account', label: 'Account', kind: 'text', placeholder: 'accounts_receivable' },
  { name: 'kind', label: 'Kind', kind: 'choices', options: optionsOf(KINDS) },
  CURRENCY,
  { name: 'customer_id', label: 'Customer id', kind: 'text' },
  { name: 'source_id', label: 'Source id', kind: 'text' },
  ...daysOf('occurred', 'Occurred'),
];

const postingsText = ({ postings, currency }: Transaction): string =>
  postings.map(({ account, amount }) => `${account} ${money(amount, currency)}`).join('; ');

function Verification(): ReactNode {
  const verification = useQuery({
    queryKey: ['ledger-verification'],
    enabled: false,
    queryFn: () => read(api.GET('/v1/ledger/verify')),
  });
  const { data, dataUpdatedAt, isFetching, error, refetch } = verification;
  return (
    <Card
      title="Verification"
      aside={
        <Button disabled={isFetching} onClick={() => void refetch()}>
          {isFetching ? 'Verifying…' : 'Verify'}
        </Button>
      }
    >
      <Problem error={error} />
      {data === undefined || error !== null ? (
        <p className={css['empty']}>Recomputes the ledger and compares it with the objects.</p>
      ) : (
        <>
          <p className={css['empty']} role="status">
            {data.ok ? '✓ Every check holds.' : '✗ A check does not hold.'}{' '}
            <span className="muted">
              Verified at {showInstant(new Date(dataUpdatedAt).toISOString())}
            </span>
          </p>
          <SmallTable
            label="Checks"
            rows={data.checks}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Check', cell: ({ name }) => showCode(name) },
              { title: 'Result', cell: ({ ok }) => <Status value={ok ? 'ready' : 'failed'} /> },
              {
                title: 'Offending',
                cell: ({ offending }) => offending.join(', ') || 'None',
              },
            ]}
          />
        </>
      )}
    </Card>
  );
}

export function LedgerPage(): ReactNode {
  const accounts = $api.useQuery('get', '/v1/ledger/accounts');
  return (
    <Page title="Ledger">
      <Card title="Accounts (debit balances; credits are negative)">
        <Loaded query={accounts}>
          {({ data }) => (
            <SmallTable
              label="Accounts"
              rows={data}
              keyOf={({ account, currency }) => `${account} ${currency}`}
              empty="No postings yet."
              columns={[
                { title: 'Account', cell: ({ account }) => account },
                { title: 'Currency', cell: ({ currency }) => currency },
                amountColumn('Balance', 'balance'),
              ]}
            />
          )}
        </Loaded>
      </Card>
      <Verification />
      <h2>Transactions</h2>
      <ListView
        path="/v1/ledger/transactions"
        expand="customer"
        label="Transactions"
        nouns={['transaction', 'transactions']}
        filters={FILTERS}
        columns={[
          { title: 'Occurred', cell: ({ occurred_at }) => showInstant(occurred_at) },
          { title: 'Kind', cell: ({ kind }) => showCode(kind) },
          CUSTOMER_COLUMN,
          { title: 'Source', cell: ({ source_id }) => <ObjectLink id={source_id} /> },
          { title: 'Postings', cell: postingsText },
        ]}
        empty="No transactions."
      />
    </Page>
  );
}
