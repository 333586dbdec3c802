import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api, api, readTagged, type Schemas } from '../api/client';
import type { PageOf } from '../api/lists';
import type { Account, Invoice, Subscription } from '../api/objects';
import { money } from '../format/money';
import { knownZone, showCode, showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { ObjectLink, Id } from '../ui/links';
import { Failure, LoadedRows, PendingPage, type Reading, ROWS_SHOWN } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';
import { useCustomerClock } from './customer-clock';
import { CustomerUsage } from './customer-usage';
import { EditCustomerDialog, NewSubscriptionDialog } from './customer-dialogs';
import { InvoiceTable } from './invoice-table';
import { PaymentTable } from './payment-table';
import { SubscriptionTable } from './subscription-table';
import { Timeline } from './timeline';

/** Returns the balances of an account as text, one for each currency. Customer credit is a liability, so its sign is reversed. */
function balances(accounts: Reading<{ readonly data: readonly Account[] }>, name: string): string {
  const { data, error } = accounts;
  if (data === undefined) return error === null ? 'Loading…' : 'Not known';
  const found = data.data.filter(({ account, balance }) => account === name && balance !== '0');
  if (found.length === 0) return showText(null);
  const sign = name === 'customer_credit' ? -1n : 1n;
  return found.map(({ balance, currency }) => money(sign * BigInt(balance), currency)).join(', ');
}

/**
 * Returns the time zone of a subscription, or else that of the customer: null while it is not known, UTC if the
 * subscription may be one of those that were not read.
 */
function zoneOf(
  subscription: string,
  read: PageOf<Subscription> | undefined,
  ofCustomer: string,
): string | null {
  const found = read?.data.find(({ id }) => id === subscription);
  if (found !== undefined) return knownZone(found.timezone);
  if (read === undefined) return null;
  return read.next_cursor === null ? ofCustomer : 'UTC';
}

function PaymentMethods({
  methods,
}: {
  readonly methods: readonly Schemas['PaymentMethodDto'][];
}): ReactNode {
  return (
    <SmallTable
      label="Payment methods"
      rows={methods}
      keyOf={(method) => method.id}
      empty="No payment methods. Invoices stay open until one is added."
      columns={[
        { title: 'Provider', cell: ({ provider }) => provider },
        { title: 'Token', cell: ({ token }) => <Id id={token} /> },
        {
          title: 'Card',
          cell: ({ brand, last4 }) => showText([brand, last4].join(' ').trim()),
        },
        {
          title: 'Expires',
          cell: ({ expiry_month, expiry_year }) =>
            showText([expiry_month, expiry_year].filter((part) => part !== null).join('/')),
        },
        { title: 'Default', cell: ({ is_default }) => (is_default ? 'Yes' : 'No') },
        {
          title: 'State',
          cell: ({ unusable_since, unusable_reason }) =>
            unusable_since === null ? (
              'Usable'
            ) : (
              <span className={css['wrapped']}>
                Unusable since {showInstant(unusable_since)}: {showCode(unusable_reason)}
              </span>
            ),
        },
      ]}
    />
  );
}

export function CustomerPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const [dialog, setDialog] = useState<'edit' | 'subscribe' | null>(null);
  const ofCustomer = { customer_id: id };
  const firstOfCustomer = { params: { query: { ...ofCustomer, limit: ROWS_SHOWN } } };
  const customer = useQuery({
    queryKey: ['customer', id],
    queryFn: () => readTagged(api.GET('/v1/customers/{id}', { params: { path: { id } } })),
  });
  const subscriptions = $api.useQuery('get', '/v1/subscriptions', {
    params: { query: { ...firstOfCustomer.params.query, expand: ['plan'] } },
  });
  const invoices = $api.useQuery('get', '/v1/invoices', firstOfCustomer);
  const payments = $api.useQuery('get', '/v1/payments', firstOfCustomer);
  const accounts = $api.useQuery('get', '/v1/ledger/accounts', {
    params: { query: ofCustomer },
  });
  const methods = $api.useQuery('get', '/v1/customers/{customer_id}/payment-methods', {
    params: { path: { customer_id: id }, query: { limit: ROWS_SHOWN } },
  });
  const clock = useCustomerClock(customer.data?.answer.test_clock_id);
  if (customer.data === undefined) return <PendingPage title="Customer" query={customer} />;
  const { answer: data } = customer.data;
  const timeZone = knownZone(data.timezone);
  const periodZoneOf = ({ subscription_id }: Invoice): string | null =>
    subscription_id === null ? timeZone : zoneOf(subscription_id, subscriptions.data, timeZone);
  const close = (): void => setDialog(null);
  return (
    <Page
      title={data.name}
      query={customer}
      crumb={{ to: '/customers', label: 'Customers' }}
      actions={
        <>
          <Button needs="customers:write" onClick={() => setDialog('edit')}>
            Edit…
          </Button>
          <Button kind="primary" needs="subscriptions:write" onClick={() => setDialog('subscribe')}>
            New subscription…
          </Button>
        </>
      }
    >
      <Failure query={clock} />
      {clock.data !== undefined && (
        <p className={css['notice']}>
          On the test clock <ObjectLink id={clock.data.id} label={clock.data.name} />, where it is{' '}
          {showInstant(clock.data.now)}.
        </p>
      )}
      <Card title="Overview">
        <Details
          items={[
            ['Email', showText(data.email)],
            ['External id', showText(data.external_id)],
            ['Owes', balances(accounts, 'accounts_receivable')],
            ['Credit', balances(accounts, 'customer_credit')],
            ['Currency', showText(data.currency)],
            ['Time zone', data.timezone],
            ['Country', showText(data.address?.country)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
        <Failure query={accounts} />
      </Card>
      <Card title="Subscriptions">
        <LoadedRows
          query={subscriptions}
          all={{ to: '/subscriptions', search: ofCustomer, label: 'All subscriptions' }}
        >
          {(rows) => <SubscriptionTable subscriptions={rows} />}
        </LoadedRows>
      </Card>
      <Card title="Invoices" aside={<span className="muted">Dates in {timeZone}</span>}>
        <LoadedRows
          query={invoices}
          all={{ to: '/invoices', search: ofCustomer, label: 'All invoices' }}
        >
          {(rows) => (
            <InvoiceTable invoices={rows} timeZone={timeZone} periodZoneOf={periodZoneOf} />
          )}
        </LoadedRows>
      </Card>
      <Card title="Payments">
        <LoadedRows
          query={payments}
          all={{ to: '/payments', search: ofCustomer, label: 'All payments' }}
        >
          {(rows) => <PaymentTable payments={rows} />}
        </LoadedRows>
      </Card>
      {data.test_clock_id === null || clock.data !== undefined ? (
        <CustomerUsage customerId={id} now={clock.data?.now ?? null} />
      ) : (
        clock.error !== null && (
          <Card title="Usage">
            <p className={css['empty']}>Not shown, because the test clock could not be read.</p>
          </Card>
        )
      )}
      <Card title="Payment methods">
        <LoadedRows query={methods}>{(rows) => <PaymentMethods methods={rows} />}</LoadedRows>
      </Card>
      <Timeline of={{ customer_id: id }} />
      {dialog === 'edit' && <EditCustomerDialog customer={customer.data} onClose={close} />}
      {dialog === 'subscribe' && <NewSubscriptionDialog customer={data} onClose={close} />}
    </Page>
  );
}
