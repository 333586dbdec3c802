import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { $api } from '../api/client';
import { money } from '../format/money';
import { showCode, showInstant, showText } from '../format/text';
import { amountColumn, CUSTOMER_COLUMN } from '../ui/columns';
import { Id, ObjectLink, OwnerLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { PendingPage } from '../ui/loaded';
import { Card, Details, Page } from '../ui/page';
import { Status } from '../ui/status';
import { SmallTable } from '../ui/table';
import { discountOf } from './catalog-lists';
import { PriceTable } from './price-table';
import { Timeline } from './timeline';

function useId(): string {
  return useParams({ strict: false }).id ?? '';
}

export function PlanPage(): ReactNode {
  const id = useId();
  const plan = $api.useQuery('get', '/v1/plans/{id}', { params: { path: { id } } });
  const { data } = plan;
  if (data === undefined) return <PendingPage title="Plan" query={plan} />;
  return (
    <Page title={data.name} query={plan} crumb={{ to: '/plans', label: 'Plans' }}>
      <Card title="Overview">
        <Details
          items={[
            ['Code', data.code],
            ['Currency', data.currency],
            ['Interval', `${data.interval_count} × ${data.interval}`],
            ['Trial days', String(data.trial_days)],
            ['Proration', data.proration],
            ['Version', String(data.version)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      <Card title="Prices">
        <PriceTable prices={data.prices} currency={data.currency} />
      </Card>
      <Card title="Entitlements">
        <SmallTable
          label="Entitlements"
          rows={data.entitlements}
          keyOf={({ entitlement_id }) => entitlement_id}
          empty="No entitlements."
          columns={[
            { title: 'Entitlement', cell: ({ entitlement_id }) => <Id id={entitlement_id} /> },
            { title: 'Value', isNumber: true, cell: ({ value }) => showText(value) },
            { title: 'Hard limit', cell: ({ is_hard_limit }) => (is_hard_limit ? 'Yes' : 'No') },
            { title: 'Reset', cell: ({ reset }) => showCode(reset) },
          ]}
        />
      </Card>
      <Timeline of={{ object_id: id }} />
    </Page>
  );
}

export function AddonPage(): ReactNode {
  const id = useId();
  const addon = $api.useQuery('get', '/v1/addons/{id}', { params: { path: { id } } });
  const { data } = addon;
  if (data === undefined) return <PendingPage title="Add-on" query={addon} />;
  return (
    <Page title={data.name} query={addon} crumb={{ to: '/addons', label: 'Add-ons' }}>
      <Card title="Overview">
        <Details
          items={[
            ['Code', data.code],
            ['Currency', data.currency],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      <Card title="Prices">
        <PriceTable prices={data.prices} currency={data.currency} />
      </Card>
      <Timeline of={{ object_id: id }} />
    </Page>
  );
}

export function CouponPage(): ReactNode {
  const id = useId();
  const coupon = $api.useQuery('get', '/v1/coupons/{id}', { params: { path: { id } } });
  const { data } = coupon;
  if (data === undefined) return <PendingPage title="Coupon" query={coupon} />;
  return (
    <Page
      title={data.code}
      query={coupon}
      mark={<Status value={data.is_active ? 'active' : 'inactive'} />}
      crumb={{ to: '/coupons', label: 'Coupons' }}
    >
      <Card title="Overview">
        <Details
          items={[
            ['Name', showText(data.name)],
            ['Discount', discountOf(data)],
            [
              'Plans',
              data.plan_ids.length === 0
                ? 'All'
                : data.plan_ids.map((plan) => (
                    <div key={plan}>
                      <ObjectLink id={plan} />
                    </div>
                  )),
            ],
            ['Redeemed', String(data.times_redeemed)],
            ['At most', data.max_redemptions === null ? 'No limit' : String(data.max_redemptions)],
            ['Redeem by', showInstant(data.redeem_by)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      <h2>Redemptions</h2>
      <ListView
        path="/v1/coupons/{id}/redemptions"
        inPath={{ id }}
        expand="customer"
        label="Redemptions"
        nouns={['redemption', 'redemptions']}
        columns={[
          { title: 'Redeemed', cell: ({ redeemed_at }) => showInstant(redeemed_at) },
          CUSTOMER_COLUMN,
          {
            title: 'Subscription',
            cell: ({ subscription_id }) => <ObjectLink id={subscription_id} />,
          },
          amountColumn('Taken off', 'applied_amount'),
          { title: 'Ends', cell: ({ ends_at, ended_at }) => showInstant(ended_at ?? ends_at) },
        ]}
        empty="Not redeemed yet."
      />
      <Timeline of={{ object_id: id }} />
    </Page>
  );
}

export function CreditNotePage(): ReactNode {
  const id = useId();
  const creditNote = $api.useQuery('get', '/v1/credit-notes/{id}', {
    params: { path: { id } },
  });
  const { data } = creditNote;
  if (data === undefined) return <PendingPage title="Credit note" query={creditNote} />;
  const amount = (minor: number): string => money(minor, data.currency);
  return (
    <Page
      title={data.number}
      query={creditNote}
      mark={<Status value={data.status} />}
      crumb={{ to: '/credit-notes', label: 'Credit notes' }}
    >
      <Card title="Overview">
        <Details
          items={[
            [
              'Customer',
              <OwnerLink key="customer" id={data.customer_id} list="/v1/credit-notes" />,
            ],
            ['Invoice', <ObjectLink key="invoice" id={data.invoice_id} />],
            ['Reason', data.reason],
            ['Net', amount(data.net)],
            ['Tax', amount(data.tax)],
            ['Total', amount(data.total)],
            ['To the invoice', amount(data.applied_to_invoice)],
            ['To the credit balance', amount(data.credited_to_balance)],
            [
              'To refund',
              data.to_refund === 0
                ? amount(0)
                : `${amount(data.to_refund)}, with a refund on a payment of the invoice`,
            ],
            ['By', showText(data.actor)],
            ['Created', showInstant(data.created_at)],
            ['Id', <Id key="id" id={id} />],
          ]}
        />
      </Card>
      <Timeline of={{ object_id: id }} />
    </Page>
  );
}
