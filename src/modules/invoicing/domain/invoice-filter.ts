import type { InvoiceStatus } from './invoice';

/** Filter of a list of invoices; null values do not filter. */
export interface InvoiceFilter {
  readonly customerId: string | null;
  readonly subscriptionId: string | null;
  readonly status: InvoiceStatus | null;
}
