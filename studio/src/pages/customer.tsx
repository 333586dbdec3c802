import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { $api } from '../api/client';
import { showInstant, showText } from '../format/text';
import { Card, Details, Page, PendingPage } from '../ui/page';

export function CustomerPage(): ReactNode {
  const { id } = useParams({ from: '/customers/$id' });
  const customer = $api.useQuery('get', '/v1/customers/{id}', { params: { path: { id } } });
  if (customer.data === undefined) return <PendingPage title="Customer" error={customer.error} />;
  const { name, email, external_id, currency, timezone, created_at } = customer.data;
  return (
    <Page title={name} crumb={{ to: '/customers', label: 'Customers' }}>
      <Card title="Overview">
        <Details
          items={[
            ['Email', showText(email)],
            ['External id', showText(external_id)],
            ['Currency', showText(currency)],
            ['Time zone', timezone],
            ['Created', showInstant(created_at)],
            [
              'Id',
              <span key="id" className="mono">
                {id}
              </span>,
            ],
          ]}
        />
      </Card>
    </Page>
  );
}
