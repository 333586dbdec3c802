import type { FixedOrder } from './line-order';
import type { InvoiceOrder } from './order';

/** An invoice for something that is not a subscription. */
export type OneOffOrder = Pick<
  InvoiceOrder,
  'customerId' | 'collection' | 'daysUntilDue' | 'metadata'
> & {
  /** ISO 4217; null: the currency of the customer. */
  readonly currency: string | null;
  readonly lines: readonly FixedOrder[];
};
