import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import type { Account } from '../api/objects';
import { money } from '../format/money';
import { showInstant, showText } from '../format/text';
import { Button } from '../ui/button';
import { ObjectLink, Id } from '../ui/links';
import { Card, Details, Page, PendingPage } from '../ui/page';
import { SmallTable } from '../ui/table';
import css from '../ui/ui.module.css';
import { CustomerUsage } from './customer-usage';
import { EditCustomerDialog, NewSubscriptionDialog } from './customer-dialogs';
import { InvoiceTable } from './invoice-table';
import { PaymentTable } from './payment-table';
import { SubscriptionTable } from './subscription-table';
import { Timeline } from './timeline';

/** Returns the balances of an account, one for each currency. Credit is a liability, so its sign is turned. */
function balances(accounts: readonly Account[] | undefined, name: string): string {
  const found = accounts?.filter(({ account, balance }) => account === name && balance !== '0');
  if (found === undefined || found.length === 0) return showText(null);
  const sign = name === 'customer_credit' ? -1n : 1n;
  return found.map(({ balance, currency }) => money(sign * BigInt(balance), currency)).join(', ');
}

export function CustomerPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const [dialog, setDialog] = useState<'edit' | 'subscribe' | null>(null);
  const ofCustomer = { params: { query: { customer_id: id } } };
  const customer = $api.useQuery('get', '/v1/customers/{id}', { params: { path: { id } } });
  const subscriptions = $api.useQuery('get', '/v1/subscriptions', {
    params: { query: { customer_id: id, expand: ['plan'] } },
  });
  const invoices = $api.useQuery('get', '/v1/invoices', ofCustomer);
  const payments = $api.useQuery('get', '/v1/payments', ofCustomer);
  const accounts = $api.useQuery('get', '/v1/ledger/accounts', ofCustomer);
  const methods = $api.useQuery('get', '/v1/customers/{customer_id}/payment-methods', {
    params: { path: { customer_id: id } },
  });
  const clockId = customer.data?.test_clock_id ?? null;
  const clock = $api.useQuery(
    'get',
    '/v1/test-clocks/{id}',
    { params: { path: { id: clockId ?? '' } } },
    { enabled: clockId !== null },
  );
  if (customer.data === undefined) return <PendingPage title="Customer" error={customer.error} />;
  const { data } = customer;
  const close = (): void => setDialog(null);
  return (
    <Page
      title={data.name}
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
            ['Owes', balances(accounts.data?.data, 'accounts_receivable')],
            ['Credit', balances(accounts.data?.data, 'customer_credit')],
            ['Currency', showText(data.currency)],
            ['Time zone', data.timezone],
            ['Country', showText(data.address?.country)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      <Card title="Subscriptions">
        <SubscriptionTable subscriptions={subscriptions.data?.data ?? []} />
      </Card>
      <Card title="Invoices">
        <InvoiceTable invoices={invoices.data?.data ?? []} />
      </Card>
      <Card title="Payments">
        <PaymentTable payments={payments.data?.data ?? []} />
      </Card>
      <CustomerUsage customerId={id} now={clock.data?.now ?? null} />
      <Card title="Payment methods">
        <SmallTable
          label="Payment methods"
          rows={methods.data?.data ?? []}
          keyOf={(method) => method.id}
          empty="No payment methods. Invoices stay open until one is added."
          columns={[
            { title: 'Provider', cell: ({ provider }) => provider },
            { title: 'Token', cell: ({ token }) => <Id id={token} /> },
            {
              title: 'Card',
              cell: ({ brand, last4 }) => showText([brand, last4].join(' ').trim()),
            },
            { title: 'Default', cell: ({ is_default }) => (is_default ? 'Yes' : 'No') },
          ]}
        />
      </Card>
      <Timeline of={{ customer_id: id }} />
      {dialog === 'edit' && <EditCustomerDialog customer={data} onClose={close} />}
      {dialog === 'subscribe' && <NewSubscriptionDialog customer={data} onClose={close} />}
    </Page>
  );
}
