import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { $api } from '../api/client';
import type { Subscription } from '../api/objects';
import { showCode, showInstant, showPeriodIn, showText, showZone } from '../format/text';
import { Button } from '../ui/button';
import { Id, ObjectLink, OwnerLink, PlanLink } from '../ui/links';
import { Failure, LoadedRows, PendingPage, ROWS_SHOWN } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import { ScheduledChanges, useScheduledChanges } from './scheduled-changes';
import { InvoiceTable } from './invoice-table';
import { useInvoiceZones } from './invoice-zones';
import { SubscriptionCoupons } from './subscription-coupons';
import { CancelDialog, ChangeDialog, type Command, CommandDialog } from './subscription-dialogs';
import { Timeline } from './timeline';

const ENDED: readonly Subscription['status'][] = ['canceled', 'incomplete_expired'];

/** Statuses in which a subscription can be changed. */
const RUNNING: readonly Subscription['status'][] = ['trialing', 'active', 'past_due'];

const UNCANCEL: Command = {
  path: 'uncancel',
  label: 'Keep',
  explains: () => 'Undoes the planned cancellation.',
};
const PAUSE: Command = {
  path: 'pause',
  label: 'Pause',
  explains: () =>
    'What was paid stays paid. Nothing more is billed until it is resumed. The invoice shows what is billed when it is paused.',
};

const RESUME: Command = {
  path: 'resume',
  label: 'Resume',
  explains: ({ current_period_end }) =>
    `If it is resumed before ${showInstant(current_period_end)}, the paid period continues to its end. After that, a new period begins at once.`,
};

function commandsOf({ status, cancel_at }: Subscription, isPending: boolean): readonly Command[] {
  if (ENDED.includes(status)) return [];
  const isPausable = status === 'active' && !(isPending && cancel_at === null);
  return [
    ...(status === 'paused' ? [RESUME] : []),
    ...(isPausable ? [PAUSE] : []),
    ...(cancel_at === null ? [] : [UNCANCEL]),
  ];
}

type OpenDialog = 'change' | 'cancel' | Command | null;

function Actions({ subscription }: { readonly subscription: Subscription }): ReactNode {
  const [open, setOpen] = useState<OpenDialog>(null);
  const close = (): void => setOpen(null);
  const isEnded = ENDED.includes(subscription.status);
  const changes = useScheduledChanges(subscription.id);
  const isPending = changes.data?.data.some(({ status }) => status === 'pending') === true;
  return (
    <>
      {commandsOf(subscription, isPending).map((command) => (
        <Button key={command.path} needs="subscriptions:write" onClick={() => setOpen(command)}>
          {command.label}…
        </Button>
      ))}
      {!isEnded && (
        <Button needs="subscriptions:write" onClick={() => setOpen('cancel')}>
          Cancel…
        </Button>
      )}
      {RUNNING.includes(subscription.status) && !isPending && (
        <Button kind="primary" needs="subscriptions:write" onClick={() => setOpen('change')}>
          Change…
        </Button>
      )}
      {open === 'change' && <ChangeDialog subscription={subscription} onClose={close} />}
      {open === 'cancel' && (
        <CancelDialog subscription={subscription} isPending={isPending} onClose={close} />
      )}
      {open !== null && typeof open === 'object' && (
        <CommandDialog subscription={subscription} command={open} onClose={close} />
      )}
    </>
  );
}

function Invoices({
  subscription: { id, customer_id },
}: {
  readonly subscription: Subscription;
}): ReactNode {
  const invoices = $api.useQuery('get', '/v1/invoices', {
    params: { query: { subscription_id: id, limit: ROWS_SHOWN } },
  });
  const { ofDates, ofPeriods, failed } = useInvoiceZones({ customer_id, subscription_id: id });
  return (
    <Card title="Invoices" aside={<span className="muted">Dates in {showZone(ofDates)}</span>}>
      {failed !== undefined && <Failure query={failed} />}
      <LoadedRows
        query={invoices}
        all={{ to: '/invoices', search: { subscription_id: id }, label: 'All invoices' }}
      >
        {(rows) => (
          <InvoiceTable invoices={rows} timeZone={ofDates} periodZoneOf={() => ofPeriods} />
        )}
      </LoadedRows>
    </Card>
  );
}

export function SubscriptionPage(): ReactNode {
  const { id = '' } = useParams({ strict: false });
  const path = { path: { id } };
  const subscription = $api.useQuery('get', '/v1/subscriptions/{id}', { params: path });
  const plan = $api.useQuery(
    'get',
    '/v1/plans/{id}',
    { params: { path: { id: subscription.data?.plan_id ?? '' } } },
    { enabled: subscription.data !== undefined },
  );
  if (subscription.data === undefined)
    return <PendingPage title="Subscription" query={subscription} />;
  const { data } = subscription;
  return (
    <Page
      title={plan.data?.name ?? 'Subscription'}
      query={subscription}
      mark={<Status value={data.status} />}
      crumb={{ to: '/subscriptions', label: 'Subscriptions' }}
      actions={<Actions subscription={data} />}
    >
      <Card title="Overview">
        <Details
          items={[
            [
              'Customer',
              <OwnerLink key="customer" id={data.customer_id} list="/v1/subscriptions" />,
            ],
            ['Plan', <PlanLink key="plan" id={data.plan_id} />],
            ['Quantity', data.quantity],
            [
              'Current period',
              showPeriodIn(data.timezone, data.current_period_start, data.current_period_end),
            ],
            ['Next bill', showInstant(data.next_billing_at)],
            ...(data.renewal_failed_at === null
              ? []
              : ([
                  [
                    'Renewal fails since',
                    `${showInstant(data.renewal_failed_at)}: ${showText(data.renewal_failure_code)}`,
                  ],
                ] as const)),
            ['Trial ends', showInstant(data.trial_end_at)],
            ['Ends', showInstant(data.cancel_at ?? data.ended_at)],
            ['Collection', showCode(data.collection)],
            ['Billing anchor', showCode(data.billing_anchor)],
            ['Time zone', data.timezone],
            ['Started', showInstant(data.start_at)],
            ['Id', <Id key="id" id={data.id} />],
          ]}
        />
      </Card>
      {data.addons.length > 0 && (
        <Card title="Add-ons">
          <SmallTable
            label="Add-ons"
            rows={data.addons}
            keyOf={({ addon_id }) => addon_id}
            columns={[
              { title: 'Add-on', cell: ({ addon_id }) => <ObjectLink id={addon_id} /> },
              { title: 'Quantity', isNumber: true, cell: ({ quantity }) => quantity },
            ]}
          />
        </Card>
      )}
      <SubscriptionCoupons subscription={data} isEnded={ENDED.includes(data.status)} />
      <ScheduledChanges subscriptionId={id} />
      <Invoices subscription={data} />
      <Timeline of={{ object_id: id }} />
    </Page>
  );
}
