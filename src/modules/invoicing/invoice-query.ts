import { ListQuery, orderOf } from '../../platform/database';
import type { InvoiceFilter } from './domain/invoice-filter';

/** Condition of a partial index: invoices that were reported as overdue and are still open. */
export const OVERDUE = `"status" = 'open' AND "overdue_at" IS NOT NULL`;

/** Condition of the partial indexes that find customers with an unpaid amount. */
export const OWED = `"status" = 'open' AND "amount_due" > "amount_paid" + "amount_credited"`;

export const CAN_BE_PAID = `"status" IN ('open', 'uncollectible')`;

/**
 * Returns the condition that an invoice is in effect: finalized and not void. What a void invoice billed counts as
 * never billed (decision 145).
 * @param invoice table or alias
 */
export function isInEffect(invoice: string): string {
  return `${invoice}.status IN ('open', 'paid', 'uncollectible')`;
}

export function invoiceQuery(filter: InvoiceFilter): ListQuery {
  return new ListQuery('invoice', 'time')
    .where('customer_id = $', filter.customerId)
    .where('subscription_id = $', filter.subscriptionId)
    .where('reissue_of_id = $', filter.reissueOfId)
    .where('number = $', filter.number)
    .where('reason = $', filter.reason)
    .where('collection = $', filter.collection)
    .where('currency = $', filter.currency)
    .whereIf(filter.isOverdue, OVERDUE)
    .whereIf(filter.isInRealTime, 'test_clock_id IS NULL')
    .whereOneOf('status', filter.statuses)
    .whereBetween('created_at', filter.created)
    .whereBetween('finalized_at', filter.finalized)
    .whereBetween('due_at', filter.due)
    .whereAmountBetween('total', filter.total)
    .orderBy(orderOf(filter.sort));
}
