import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from '@tanstack/react-router';
import { Layout, UnknownPage } from './layout/layout';

const root = createRootRoute({ component: Layout, notFoundComponent: UnknownPage });

/** A page whose code is loaded when it is opened. */
function pageAt<const Path extends string>(path: Path, component: RouteComponent) {
  return createRoute({ getParentRoute: () => root, path, component });
}

const pages = [
  pageAt(
    '/',
    lazyRouteComponent(() => import('./pages/home'), 'HomePage'),
  ),
  pageAt(
    '/reports',
    lazyRouteComponent(() => import('./pages/reports'), 'ReportsPage'),
  ),
  pageAt(
    '/customers',
    lazyRouteComponent(() => import('./pages/customers'), 'CustomersPage'),
  ),
  pageAt(
    '/customers/$id',
    lazyRouteComponent(() => import('./pages/customer'), 'CustomerPage'),
  ),
  pageAt(
    '/subscriptions',
    lazyRouteComponent(() => import('./pages/subscriptions'), 'SubscriptionsPage'),
  ),
  pageAt(
    '/subscriptions/$id',
    lazyRouteComponent(() => import('./pages/subscription'), 'SubscriptionPage'),
  ),
  pageAt(
    '/invoices',
    lazyRouteComponent(() => import('./pages/invoices'), 'InvoicesPage'),
  ),
  pageAt(
    '/invoices/$id',
    lazyRouteComponent(() => import('./pages/invoice'), 'InvoicePage'),
  ),
  pageAt(
    '/payments',
    lazyRouteComponent(() => import('./pages/payments'), 'PaymentsPage'),
  ),
  pageAt(
    '/payments/$id',
    lazyRouteComponent(() => import('./pages/payment'), 'PaymentPage'),
  ),
  pageAt(
    '/credit-notes',
    lazyRouteComponent(() => import('./pages/returns'), 'CreditNotesPage'),
  ),
  pageAt(
    '/credit-notes/$id',
    lazyRouteComponent(() => import('./pages/catalog-objects'), 'CreditNotePage'),
  ),
  pageAt(
    '/refunds',
    lazyRouteComponent(() => import('./pages/returns'), 'RefundsPage'),
  ),
  pageAt(
    '/disputes',
    lazyRouteComponent(() => import('./pages/returns'), 'DisputesPage'),
  ),
  pageAt(
    '/ledger',
    lazyRouteComponent(() => import('./pages/ledger'), 'LedgerPage'),
  ),
  pageAt(
    '/plans',
    lazyRouteComponent(() => import('./pages/catalog-lists'), 'PlansPage'),
  ),
  pageAt(
    '/plans/$id',
    lazyRouteComponent(() => import('./pages/catalog-objects'), 'PlanPage'),
  ),
  pageAt(
    '/addons',
    lazyRouteComponent(() => import('./pages/catalog-lists'), 'AddonsPage'),
  ),
  pageAt(
    '/addons/$id',
    lazyRouteComponent(() => import('./pages/catalog-objects'), 'AddonPage'),
  ),
  pageAt(
    '/coupons',
    lazyRouteComponent(() => import('./pages/catalog-lists'), 'CouponsPage'),
  ),
  pageAt(
    '/coupons/$id',
    lazyRouteComponent(() => import('./pages/catalog-objects'), 'CouponPage'),
  ),
  pageAt(
    '/meters',
    lazyRouteComponent(() => import('./pages/meters'), 'MetersPage'),
  ),
  pageAt(
    '/meters/$id',
    lazyRouteComponent(() => import('./pages/meter'), 'MeterPage'),
  ),
  pageAt(
    '/simulations',
    lazyRouteComponent(() => import('./pages/simulations'), 'SimulationsPage'),
  ),
  pageAt(
    '/events',
    lazyRouteComponent(() => import('./pages/events'), 'EventsPage'),
  ),
  pageAt(
    '/events/$id',
    lazyRouteComponent(() => import('./pages/event'), 'EventPage'),
  ),
  pageAt(
    '/webhooks',
    lazyRouteComponent(() => import('./pages/webhooks'), 'WebhooksPage'),
  ),
  pageAt(
    '/webhooks/$id',
    lazyRouteComponent(() => import('./pages/webhook-endpoint'), 'WebhookEndpointPage'),
  ),
  pageAt(
    '/webhook-deliveries/$id',
    lazyRouteComponent(() => import('./pages/webhook-delivery'), 'WebhookDeliveryPage'),
  ),
  pageAt(
    '/test-clocks',
    lazyRouteComponent(() => import('./pages/test-clocks'), 'TestClocksPage'),
  ),
  pageAt(
    '/test-clocks/$id',
    lazyRouteComponent(() => import('./pages/test-clock'), 'TestClockPage'),
  ),
  pageAt(
    '/settings',
    lazyRouteComponent(() => import('./pages/settings'), 'SettingsPage'),
  ),
] as const;

/** Parses the query of the address. Every value stays a string, so that an external id such as `007` is found. */
function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

function stringifySearch(search: Record<string, unknown>): string {
  const values = Object.entries(search).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(values.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

export const router = createRouter({
  routeTree: root.addChildren(pages),
  basepath: '/studio',
  defaultPreload: 'intent',
  scrollRestoration: true,
  // Mounts a page again for another object, so that an open dialog never sends its change to that object.
  defaultRemountDeps: ({ params }) => params,
  parseSearch,
  stringifySearch,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
