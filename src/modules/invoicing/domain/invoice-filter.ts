import type { InvoiceStatus } from './invoice';

/** What a list is narrowed to; null: not narrowed. */
export interface InvoiceFilter {
  readonly customerId: string | null;
  readonly subscriptionId: string | null;
  readonly status: InvoiceStatus | null;
}
