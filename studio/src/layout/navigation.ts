export interface Destination {
  readonly to: string;
  readonly label: string;
}

/** The pages of the menu, by group. */
export const NAVIGATION: readonly (readonly [group: string, pages: readonly Destination[]])[] = [
  [
    '',
    [
      { to: '/customers', label: 'Customers' },
      { to: '/subscriptions', label: 'Subscriptions' },
    ],
  ],
  [
    'Money',
    [
      { to: '/invoices', label: 'Invoices' },
      { to: '/payments', label: 'Payments' },
      { to: '/credit-notes', label: 'Credit notes' },
      { to: '/ledger', label: 'Ledger' },
    ],
  ],
  [
    'Product',
    [
      { to: '/plans', label: 'Plans' },
      { to: '/addons', label: 'Add-ons' },
      { to: '/coupons', label: 'Coupons' },
      { to: '/meters', label: 'Meters' },
      { to: '/simulations', label: 'Simulations' },
    ],
  ],
  [
    'Developers',
    [
      { to: '/events', label: 'Events' },
      { to: '/webhooks', label: 'Webhooks' },
      { to: '/test-clocks', label: 'Test clocks' },
      { to: '/settings', label: 'Settings' },
    ],
  ],
];
