import type { ReactNode } from 'react';
import type { Subscription } from '../api/objects';
import { daysOf, type Filter, optionsOf, REAL_TIME } from '../ui/filters';
import { ListView } from '../ui/list-view';
import { Page } from '../ui/page';
import { SUBSCRIPTION_COLUMNS } from './subscription-table';

const STATUSES: readonly Subscription['status'][] = [
  'active',
  'trialing',
  'past_due',
  'unpaid',
  'paused',
  'canceled',
  'incomplete',
  'incomplete_expired',
];

const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'Status', kind: 'choices', options: optionsOf(STATUSES) },
  { name: 'plan_id', label: 'Plan id', kind: 'text' },
  { name: 'customer_id', label: 'Customer id', kind: 'text' },
  ...daysOf('renews', 'Renews'),
  REAL_TIME,
];

export function SubscriptionsPage(): ReactNode {
  return (
    <Page title="Subscriptions">
      <ListView
        path="/v1/subscriptions"
        expand="customer,plan"
        label="Subscriptions"
        nouns={['subscription', 'subscriptions']}
        columns={SUBSCRIPTION_COLUMNS}
        filters={FILTERS}
        sums={[]}
        empty="No subscriptions. Create one on the page of a customer, or with POST /v1/subscriptions."
      />
    </Page>
  );
}
