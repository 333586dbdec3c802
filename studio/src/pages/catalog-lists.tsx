import type { ReactNode } from 'react';
import { api, read, type Schemas } from '../api/client';
import { money } from '../format/money';
import { showCode, showDay, showText } from '../format/text';
import { ObjectLink } from '../ui/links';
import { Page } from '../ui/page';
import { Status } from '../ui/status';
import { List } from '../ui/table';

export function PlansPage(): ReactNode {
  return (
    <Page title="Plans">
      <List<Schemas['PlanDto']>
        label="Plans"
        nouns={['plan', 'plans']}
        keyOf={({ id }) => id}
        queryKey={[]}
        load={(query) => read(api.GET('/v1/plans', { params: { query } }))}
        columns={[
          {
            title: 'Name',
            full: ({ name }) => name,
            cell: ({ id, name }) => <ObjectLink id={id} label={name} />,
          },
          { title: 'Code', full: ({ code }) => code, cell: ({ code }) => code },
          { title: 'Currency', cell: ({ currency }) => currency },
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
      <List<Schemas['AddonDto']>
        label="Add-ons"
        nouns={['add-on', 'add-ons']}
        keyOf={({ id }) => id}
        queryKey={[]}
        load={(query) => read(api.GET('/v1/addons', { params: { query } }))}
        columns={[
          {
            title: 'Name',
            full: ({ name }) => name,
            cell: ({ id, name }) => <ObjectLink id={id} label={name} />,
          },
          { title: 'Code', full: ({ code }) => code, cell: ({ code }) => code },
          { title: 'Currency', cell: ({ currency }) => currency },
          { title: 'Prices', isNumber: true, cell: ({ prices }) => prices.length },
          { title: 'Created (UTC)', cell: ({ created_at }) => showDay(created_at) },
        ]}
        empty="No add-ons. Create one with POST /v1/addons."
      />
    </Page>
  );
}

/** Returns what a coupon takes off, for how long. */
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
      <List<Schemas['CouponDto']>
        label="Coupons"
        nouns={['coupon', 'coupons']}
        keyOf={({ id }) => id}
        queryKey={[]}
        load={(query) => read(api.GET('/v1/coupons', { params: { query } }))}
        columns={[
          {
            title: 'Code',
            full: ({ code }) => code,
            cell: ({ id, code }) => <ObjectLink id={id} label={code} />,
          },
          { title: 'Name', full: ({ name }) => name ?? '', cell: ({ name }) => showText(name) },
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

export function CreditNotesPage(): ReactNode {
  return (
    <Page title="Credit notes">
      <List<Schemas['CreditNoteDto']>
        label="Credit notes"
        nouns={['credit note', 'credit notes']}
        keyOf={({ id }) => id}
        queryKey={[]}
        load={(query) => read(api.GET('/v1/credit-notes', { params: { query } }))}
        columns={[
          { title: 'Number', cell: ({ id, number }) => <ObjectLink id={id} label={number} /> },
          { title: 'Status', cell: ({ status }) => <Status value={status} /> },
          { title: 'Invoice', cell: ({ invoice_id }) => <ObjectLink id={invoice_id} /> },
          { title: 'Reason', full: ({ reason }) => reason, cell: ({ reason }) => reason },
          { title: 'Settlement', cell: ({ settle }) => showCode(settle) },
          { title: 'Created (UTC)', cell: ({ created_at }) => showDay(created_at) },
          { title: 'Total', isNumber: true, cell: ({ total, currency }) => money(total, currency) },
        ]}
        empty="No credit notes. Credit an invoice on its page."
      />
    </Page>
  );
}
