import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from '@tanstack/react-router';
import { Layout } from './layout/layout';

const root = createRootRoute({ component: Layout });

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the router's way to redirect
    throw redirect({ to: '/customers' });
  },
});

const customers = createRoute({
  getParentRoute: () => root,
  path: '/customers',
  component: lazyRouteComponent(() => import('./pages/customers'), 'CustomersPage'),
});

const customer = createRoute({
  getParentRoute: () => root,
  path: '/customers/$id',
  component: lazyRouteComponent(() => import('./pages/customer'), 'CustomerPage'),
});

/** Every value of the address stays a string, so that an external id such as `007` is found. */
function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

function stringifySearch(search: Record<string, unknown>): string {
  const values = Object.entries(search).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(values.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

export const router = createRouter({
  routeTree: root.addChildren([home, customers, customer]),
  basepath: '/studio',
  defaultPreload: 'intent',
  parseSearch,
  stringifySearch,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
