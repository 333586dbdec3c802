import { nonNegative } from '../../../core/money';
import { creditAfter, grantOf, type StoredCreditGrant } from './credit-grant';
import type { BillingContext } from './decide-invoice';
import { isWaiting } from './grace';
import type { Invoice } from './invoice';
import type { BillingRequest } from './billing-request';

/** Returns the amount that the subscription of an invoice owes on open and uncollectible invoices, in minor units. */
export type OwedBySubscription = (invoice: Pick<Invoice, 'subscriptionId'>) => bigint;

export interface DecidedInvoice {
  readonly invoice: Invoice;
  /**
   * Credit that a negative total gives; null if the total is not negative, or if the invoice is a draft in its grace
   * period.
   */
  readonly added: StoredCreditGrant | null;
}

/**
 * Calculates invoices one after the other. Each invoice uses the customer's credit that the earlier invoices left. A
 * draft in its grace period uses no credit yet. A negative invoice gives credit. This credit first lowers what the
 * subscription of the invoice owes; the next invoices use the rest.
 */
export function decideInSequence<Request extends Pick<BillingRequest, 'customerId'>>(
  requests: readonly Request[],
  contextOf: (request: Request) => BillingContext,
  decide: (request: Request, context: BillingContext) => Invoice,
  nextGrantId: () => string,
  owedBySubscription: OwedBySubscription,
  now: Date,
): readonly DecidedInvoice[] {
  const credit = new Map<string, BillingContext['creditGrants']>();
  return requests.map((request) => {
    const context = contextOf(request);
    const creditGrants = credit.get(request.customerId) ?? context.creditGrants;
    const invoice = decide(request, { ...context, creditGrants });
    if (isWaiting(invoice)) return { invoice, added: null };
    const added = grantOf(invoice, nextGrantId(), now);
    const shared = added && {
      ...added,
      remaining: nonNegative(added.remaining - owedBySubscription(invoice)),
    };
    credit.set(request.customerId, creditAfter(creditGrants, invoice.credits, shared));
    return { invoice, added };
  });
}
