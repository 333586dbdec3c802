import { creditAfter, grantOf, type StoredCreditGrant } from './credit-grant';
import type { BillingContext } from './decide-invoice';
import { isWaiting } from './grace';
import type { Invoice } from './invoice';
import type { InvoiceOrder } from './order';

/** Returns what a subscription still owes on open and uncollectible invoices, in minor units. */
export type OpenMinorOf = (invoice: Pick<Invoice, 'subscriptionId'>) => bigint;

/** An invoice with decided amounts. */
export interface Decided {
  readonly invoice: Invoice;
  /** Credit from a negative total; null: the total is not negative. */
  readonly added: StoredCreditGrant | null;
}

/**
 * Decides invoices one after the other. Invoices of one customer share its credit: each uses what the former left, and a
 * waiting draft uses none yet. Credit from a negative invoice first lowers what its own subscription owes; the next invoices
 * use the rest.
 */
export function decideInTurn<Order extends Pick<InvoiceOrder, 'customerId'>>(
  orders: readonly Order[],
  contextOf: (order: Order) => BillingContext,
  decide: (order: Order, context: BillingContext) => Invoice,
  nextGrantId: () => string,
  openMinorOf: OpenMinorOf,
  now: Date,
): readonly Decided[] {
  const credit = new Map<string, BillingContext['creditGrants']>();
  return orders.map((order) => {
    const context = contextOf(order);
    const creditGrants = credit.get(order.customerId) ?? context.creditGrants;
    const invoice = decide(order, { ...context, creditGrants });
    if (isWaiting(invoice)) return { invoice, added: null };
    const added = grantOf(invoice, nextGrantId(), now);
    const shared = added && {
      ...added,
      remaining: atLeastZero(added.remaining - openMinorOf(invoice)),
    };
    credit.set(order.customerId, creditAfter(creditGrants, invoice.credits, shared));
    return { invoice, added };
  });
}

function atLeastZero(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}
