/** Pages of objects, by the prefix of their id. */
const PAGES: Readonly<Record<string, string>> = {
  addon: '/addons',
  clock: '/test-clocks',
  cn: '/credit-notes',
  coup: '/coupons',
  cus: '/customers',
  evt: '/events',
  inv: '/invoices',
  meter: '/meters',
  pay: '/payments',
  plan: '/plans',
  sub: '/subscriptions',
  whd: '/webhook-deliveries',
  whe: '/webhooks',
};

/** Returns the path of the page of the object with this id; null if there is no such page. */
export function pageOfId(id: string): string | null {
  const [, prefix = ''] = /^([a-z]+)_[0-9a-z]{26}$/.exec(id.trim()) ?? [];
  return Object.hasOwn(PAGES, prefix) ? `${PAGES[prefix]}/${id.trim()}` : null;
}
