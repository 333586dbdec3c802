import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
} from '@tanstack/react-router';
import { RequestFailed } from './api/client';
import { FailedPage, Layout, UnknownPage } from './layout/layout';

const root = createRootRoute({ component: Layout, notFoundComponent: UnknownPage });

const NOT_LOADED = 'The page cannot be loaded. Check your connection and try again.';

/** A page whose code is loaded when it is opened. */
function pageAt<const Path extends string, const Name extends string>(
  path: Path,
  load: () => Promise<Readonly<Record<Name, RouteComponent>>>,
  name: Name,
) {
  return createRoute({
    getParentRoute: () => root,
    path,
    // Another error than that of the import, for which the router would reload the console: offline, the menu would be gone.
    component: lazyRouteComponent<Record<Name, RouteComponent>, Name>(
      () => load().catch(() => Promise.reject(new RequestFailed(NOT_LOADED, 0))),
      name,
    ),
  });
}

const pages = [
  pageAt('/', () => import('./pages/home'), 'HomePage'),
  pageAt('/reports', () => import('./pages/reports'), 'ReportsPage'),
  pageAt('/customers', () => import('./pages/customers'), 'CustomersPage'),
  pageAt('/customers/$id', () => import('./pages/customer'), 'CustomerPage'),
  pageAt('/subscriptions', () => import('./pages/subscriptions'), 'SubscriptionsPage'),
  pageAt('/subscriptions/$id', () => import('./pages/subscription'), 'SubscriptionPage'),
  pageAt('/invoices', () => import('./pages/invoices'), 'InvoicesPage'),
  pageAt('/invoices/$id', () => import('./pages/invoice'), 'InvoicePage'),
  pageAt('/payments', () => import('./pages/payments'), 'PaymentsPage'),
  pageAt('/payments/$id', () => import('./pages/payment'), 'PaymentPage'),
  pageAt('/credit-notes', () => import('./pages/returns'), 'CreditNotesPage'),
  pageAt('/credit-notes/$id', () => import('./pages/catalog-objects'), 'CreditNotePage'),
  pageAt('/refunds', () => import('./pages/returns'), 'RefundsPage'),
  pageAt('/disputes', () => import('./pages/returns'), 'DisputesPage'),
  pageAt('/ledger', () => import('./pages/ledger'), 'LedgerPage'),
  pageAt('/plans', () => import('./pages/catalog-lists'), 'PlansPage'),
  pageAt('/plans/$id', () => import('./pages/catalog-objects'), 'PlanPage'),
  pageAt('/addons', () => import('./pages/catalog-lists'), 'AddonsPage'),
  pageAt('/addons/$id', () => import('./pages/catalog-objects'), 'AddonPage'),
  pageAt('/coupons', () => import('./pages/catalog-lists'), 'CouponsPage'),
  pageAt('/coupons/$id', () => import('./pages/catalog-objects'), 'CouponPage'),
  pageAt('/meters', () => import('./pages/meters'), 'MetersPage'),
  pageAt('/meters/$id', () => import('./pages/meter'), 'MeterPage'),
  pageAt('/simulations', () => import('./pages/simulations'), 'SimulationsPage'),
  pageAt('/events', () => import('./pages/events'), 'EventsPage'),
  pageAt('/events/$id', () => import('./pages/event'), 'EventPage'),
  pageAt('/webhooks', () => import('./pages/webhooks'), 'WebhooksPage'),
  pageAt('/webhooks/$id', () => import('./pages/webhook-endpoint'), 'WebhookEndpointPage'),
  pageAt(
    '/webhook-deliveries/$id',
    () => import('./pages/webhook-delivery'),
    'WebhookDeliveryPage',
  ),
  pageAt('/test-clocks', () => import('./pages/test-clocks'), 'TestClocksPage'),
  pageAt('/test-clocks/$id', () => import('./pages/test-clock'), 'TestClockPage'),
  pageAt('/settings', () => import('./pages/settings'), 'SettingsPage'),
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
  defaultErrorComponent: FailedPage,
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
