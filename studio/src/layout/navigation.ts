import type { Scope } from './access';

export interface Destination {
  readonly to: string;
  readonly label: string;
  /** Scope that the page needs; absent if everybody may open the page. */
  readonly needs?: Scope;
}

/** The pages of the menu, by group. */
export const NAVIGATION: readonly (readonly [group: string, pages: readonly Destination[]])[] = [
  [
    '',
    [
      { to: '/', label: 'Home' },
      { to: '/customers', needs: 'customers:read', label: 'Customers' },
      { to: '/subscriptions', needs: 'subscriptions:read', label: 'Subscriptions' },
    ],
  ],
  [
    'Money',
    [
      { to: '/invoices', needs: 'invoices:read', label: 'Invoices' },
      { to: '/payments', needs: 'payments:read', label: 'Payments' },
      { to: '/refunds', needs: 'refunds:read', label: 'Refunds' },
      { to: '/credit-notes', needs: 'invoices:read', label: 'Credit notes' },
      { to: '/disputes', needs: 'payments:read', label: 'Disputes' },
      { to: '/ledger', needs: 'ledger:read', label: 'Ledger' },
      { to: '/reports', needs: 'analytics:read', label: 'Reports' },
    ],
  ],
  [
    'Product',
    [
      { to: '/plans', needs: 'catalog:read', label: 'Plans' },
      { to: '/addons', needs: 'catalog:read', label: 'Add-ons' },
      { to: '/coupons', needs: 'coupons:read', label: 'Coupons' },
      { to: '/meters', needs: 'catalog:read', label: 'Meters' },
      { to: '/simulations', needs: 'invoices:read', label: 'Simulations' },
    ],
  ],
  [
    'Developers',
    [
      { to: '/events', needs: 'events:read', label: 'Events' },
      { to: '/webhooks', needs: 'webhooks:read', label: 'Webhooks' },
      { to: '/test-clocks', needs: 'test-clocks:read', label: 'Test clocks' },
      { to: '/settings', label: 'Settings' },
    ],
  ],
];
