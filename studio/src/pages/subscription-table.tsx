import type { ReactNode } from 'react';
import type { Subscription } from '../api/objects';
import { showInstant, showPeriodIn } from '../format/text';
import { CUSTOMER_COLUMN } from '../ui/columns';
import { ObjectLink, PlanName } from '../ui/links';
import { Status } from '../ui/status';
import { type Column, SmallTable } from '../ui/table';

const PLAN: Column<Subscription> = {
  title: 'Plan',
  cell: ({ id, plan_id, plan }) => (
    <ObjectLink id={id} label={<PlanName id={plan_id} plan={plan} />} />
  ),
};

const REST: readonly Column<Subscription>[] = [
  { title: 'Status', cell: ({ status }) => <Status value={status} /> },
  { title: 'Quantity', isNumber: true, cell: ({ quantity }) => quantity },
  {
    title: 'Current period',
    cell: (one) => showPeriodIn(one.timezone, one.current_period_start, one.current_period_end),
  },
  { title: 'Next bill', cell: ({ next_billing_at }) => showInstant(next_billing_at) },
];

export const SUBSCRIPTION_COLUMNS: readonly Column<Subscription>[] = [
  PLAN,
  CUSTOMER_COLUMN,
  ...REST,
];

export function SubscriptionTable({
  subscriptions,
}: {
  readonly subscriptions: readonly Subscription[];
}): ReactNode {
  return (
    <SmallTable
      label="Subscriptions"
      rows={subscriptions}
      keyOf={({ id }) => id}
      empty="No subscriptions."
      columns={[PLAN, ...REST]}
    />
  );
}
