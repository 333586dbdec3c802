/** All scopes, each with the actions that it allows. A `:write` scope does not include the `:read` scope. */
export const SCOPES = {
  'analytics:read':
    'Read sums over the subscriptions, invoices, payments and books of all customers, and what each subscription costs per month.',
  'audit:read': 'Read and verify the audit log, with the changed values in it.',
  'catalog:read': 'Read plans, add-ons, prices, meters and tax rates.',
  'catalog:write': 'Create and change plans, add-ons, prices, meters and tax rates.',
  'coupons:read': 'Read coupons and their redemptions.',
  'coupons:write': 'Create, change and delete coupons.',
  'customers:read': 'Read customers.',
  'customers:write': 'Create, change and delete customers, and issue their tokens.',
  'entitlements:read': 'Read features, and check what customers have access to.',
  'entitlements:write': 'Create and change features, and grant them to customers.',
  'events:read':
    'Read the events of all resources, with the resources in them. Events of API keys also need `keys:read`; events of admins, sessions, second factors and studio settings also need `studio:read`.',
  'invoices:read': 'Read invoices, credit notes and credit balances, and simulate prices.',
  'invoices:write': 'Create, change, finalize and void invoices and credit notes.',
  'keys:read': 'Read API keys, without their secrets.',
  'keys:write': 'Create, change, roll and revoke API keys with at most the scopes of the caller.',
  'ledger:read': 'Read and verify the ledger.',
  'metrics:read': 'Read the metrics of the process.',
  'payments:read': 'Read payments, payment methods and provider discrepancies.',
  'payments:write':
    'Charge customers, change payment methods and resolve provider discrepancies. Moves money.',
  'refunds:read': 'Read refunds.',
  'refunds:write': 'Refund payments. Moves money.',
  'search:read': 'Search. Finds only objects that the other scopes of the caller can read.',
  'sessions:read': 'Read sessions: those of all admins with `studio:read`, otherwise the own ones.',
  'sessions:write':
    'End sessions: those of all admins with `studio:write`, otherwise the own ones. Change the own second factor.',
  'studio:read': 'Read the admins.',
  'studio:write': 'Create, change and delete admins.',
  'subscriptions:read': 'Read subscriptions.',
  'subscriptions:write': 'Create, change, pause and cancel subscriptions, which bills customers.',
  'test-clocks:read': 'Read test clocks.',
  'test-clocks:write': 'Create, advance and delete test clocks.',
  'usage:read': 'Read usage and usage events.',
  'usage:write': 'Report and void usage, and consume entitlements.',
  'webhooks:read': 'Read webhook endpoints, deliveries and replays, without secrets.',
  'webhooks:write':
    'Create and change webhook endpoints, which receive the events of all resources, and read their secrets.',
} as const satisfies Readonly<Record<string, string>>;

export type Scope = keyof typeof SCOPES;

/** Scope of a credential. `*` stands for all scopes, including scopes that later versions add. */
export type GrantedScope = Scope | '*';

/** Callers that may use an operation: those with the scope, or everyone (`public`). */
export type Access = Scope | 'public';

export const ALL_SCOPES = Object.keys(SCOPES) as readonly Scope[];

export const GRANTED_SCOPES: readonly GrantedScope[] = ['*', ...ALL_SCOPES];
