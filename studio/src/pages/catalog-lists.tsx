import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { money } from '../format/money';
import { showDay, showText } from '../format/text';
import { ObjectLink } from '../ui/links';
import { ListView } from '../ui/list-view';
import { Page } from '../ui/page';
import { Status } from '../ui/status';
import type { Column } from '../ui/table';

/** Columns that plans and add-ons share. */
const SOLD: readonly Column<Schemas['PlanDto'] | Schemas['AddonDto']>[] = [
  {
    title: 'Name',
    full: ({ name }) => name,
    cell: ({ id, name }) => <ObjectLink id={id} label={name} />,
  },
  { title: 'Code', cell: ({ code }) => code },
  { title: 'Currency', cell: ({ currency }) => currency },
];

export function PlansPage(): ReactNode {
  return (
    <Page title="Plans">
      <ListView
        path="/v1/plans"
        label="Plans"
        nouns={['plan', 'plans']}
        columns={[
          ...SOLD,
          {
            title: 'Interval',
            cell: ({ interval, interval_count }) => `${interval_count} × ${interval}`,
          },
          { title: 'Prices', isNumber: true, cell: ({ prices }) => prices.length },
          { title: 'Version', isNumber: true, cell: ({ version }) => version },
          { title: 'Created (UTC)', cell: ({ created_at }) => showDay(created_at) },
        ]}
        empty="No plans. Create one with POST /v1/plans."
      />
    </Page>
  );
}

export function AddonsPage(): ReactNode {
  return (
    <Page title="Add-ons">
      <ListView
        path="/v1/addons"
        label="Add-ons"
        nouns={['add-on', 'add-ons']}
        columns={[
          ...SOLD,
          { title: 'Prices', isNumber: true, cell: ({ prices }) => prices.length },
          { title: 'Created (UTC)', cell: ({ created_at }) => showDay(created_at) },
        ]}
        empty="No add-ons. Create one with POST /v1/addons."
      />
    </Page>
  );
}

/** Returns the discount and the duration of a coupon as text. */
export function discountOf(coupon: Schemas['CouponDto']): string {
  const { type, percent_off, amount_off, currency, duration, duration_in_months } = coupon;
  const off =
    type === 'percent' ? `${percent_off ?? ''} %` : money(amount_off ?? 0, currency ?? 'USD');
  const time = duration === 'repeating' ? `${duration_in_months ?? ''} months` : duration;
  return `${off}, ${time}`;
}

export function CouponsPage(): ReactNode {
  return (
    <Page title="Coupons">
      <ListView
        path="/v1/coupons"
        label="Coupons"
        nouns={['coupon', 'coupons']}
        columns={[
          {
            title: 'Code',
            full: ({ code }) => code,
            cell: ({ id, code }) => <ObjectLink id={id} label={code} />,
          },
          { title: 'Name', cell: ({ name }) => showText(name) },
          { title: 'Discount', cell: discountOf },
          {
            title: 'Status',
            cell: ({ is_active }) => <Status value={is_active ? 'active' : 'inactive'} />,
          },
          { title: 'Redeemed', isNumber: true, cell: ({ times_redeemed }) => times_redeemed },
          {
            title: 'At most',
            isNumber: true,
            cell: ({ max_redemptions }) => max_redemptions ?? '–',
          },
          { title: 'Redeem by (UTC)', cell: ({ redeem_by }) => showDay(redeem_by) },
        ]}
        empty="No coupons. Create one with POST /v1/coupons."
      />
    </Page>
  );
}
