import { creditAfter, grantOf, type StoredCreditGrant } from './credit-grant';
import type { BillingFacts } from './decide-invoice';
import { isWaiting } from './grace';
import type { Invoice } from './invoice';
import type { InvoiceOrder } from './order';

/** An invoice whose amounts are decided, with the credit that it becomes where it is negative. */
export interface Decided {
  readonly invoice: Invoice;
  readonly added: StoredCreditGrant | null;
}

/**
 * Decides invoices in the order of their orders: those of one customer share its credit, each finds what the former left.
 * A draft that waits takes nothing of it yet.
 */
export function decideInTurn<Order extends Pick<InvoiceOrder, 'customerId'>>(
  orders: readonly Order[],
  factsOf: (order: Order) => BillingFacts,
  decide: (order: Order, facts: BillingFacts) => Invoice,
  nextGrantId: () => string,
  now: Date,
): readonly Decided[] {
  const credit = new Map<string, BillingFacts['creditGrants']>();
  return orders.map((order) => {
    const facts = factsOf(order);
    const creditGrants = credit.get(order.customerId) ?? facts.creditGrants;
    const invoice = decide(order, { ...facts, creditGrants });
    if (isWaiting(invoice)) return { invoice, added: null };
    const added = grantOf(invoice, nextGrantId(), now);
    credit.set(order.customerId, creditAfter(creditGrants, invoice.credits, added));
    return { invoice, added };
  });
}
