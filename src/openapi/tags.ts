import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations';

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'Add-on entitlements': 'Entitlements that an add-on gives to subscriptions with this add-on.',
  Analytics: 'Sums over the invoices of all customers.',
  'API keys': 'Secrets with which programs call the API, their scopes, and how they are replaced.',
  'Audit log': 'Who changed what, when and from where, sealed against later changes.',
  'Add-ons': 'Prices that can be sold beside a plan.',
  Coupons: 'Discounts by percentage or amount, and their redemptions.',
  'Credit balance': 'Money that a customer has in credit for later invoices.',
  'Credit notes': 'Corrections of finalized invoices, as credit or as a refund.',
  Customers: 'Buyers, with their address, currency and taxes.',
  Disputes: 'Claims of customers’ banks that a payment is not owed.',
  Entitlements: 'Features that plans, add-ons and grants give, and the balance of each customer.',
  Events: 'The log of every change.',
  Invoices: 'Drafts, finalized invoices, their lines and their payment.',
  Ledger: 'Double-entry bookkeeping of every amount.',
  Meters: 'Definitions of how usage events are counted, and the usage they count.',
  Operations: 'Health checks and metrics of the service.',
  'Payment methods': 'Payment methods of a customer.',
  Payments: 'Charges through a payment provider.',
  Plans: 'Plans, their versions and prices, and the simulation of new prices.',
  'Provider discrepancies': 'Differences between a payment provider and the books.',
  Reconciliations: 'Comparisons of the charges and refunds at a payment provider with the books.',
  Refunds: 'Money given back from payments.',
  Sandbox: 'Outcomes of the built-in test provider. Never moves money.',
  Search: 'Objects of all types by name, number, code or id.',
  Sessions: 'Admins who are signed in: signing in and out, and ending sessions.',
  Studio: 'Admins who work with the engine.',
  Subscriptions: 'Contracts of customers for plans, with their changes and cancellation.',
  'Tax rates': 'Rates that invoices apply.',
  'Test clocks': 'Simulated time for the customers assigned to a clock.',
  Usage: 'Usage events, reported once each by idempotency key.',
  Webhooks: 'Endpoints that receive events, their deliveries and replays.',
};

/** @throws {Error} if a tag in use has no description */
export function describeTags(document: OpenAPIObject): void {
  const used = new Set(
    operationsOf(document.paths).flatMap(({ operation }) => operation.tags ?? []),
  );
  document.tags = [...used].sort().map((name) => {
    const description = DESCRIPTIONS[name];
    if (description === undefined)
      throw new Error(`The tag ${name} has no description: add one in src/openapi/tags.ts.`);
    return { name, description };
  });
}
