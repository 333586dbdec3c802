import { creditAfter, grantOf, type StoredCreditGrant } from './credit-grant';
import type { BillingContext } from './decide-invoice';
import { isWaiting } from './grace';
import type { Invoice } from './invoice';
import type { InvoiceOrder } from './order';

/** Amount still owed of the subscription of an invoice, in minor units: of open and uncollectible invoices. */
export type OpenMinorOf = (invoice: Pick<Invoice, 'subscriptionId'>) => bigint;

/** An invoice whose amounts are decided, with the credit that it becomes where it is negative. */
export interface Decided {
  readonly invoice: Invoice;
  readonly added: StoredCreditGrant | null;
}

/**
 * Decides invoices in the order of their orders. Those of one customer share its credit: each can use what the former left.
 * A draft that waits takes nothing of it yet. Credit of a negative invoice first lowers what its own subscription
 * owes; the next invoices find the rest.
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
