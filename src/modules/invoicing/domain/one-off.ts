import type { FixedLineRequest } from './line-item-request';
import type { BillingRequest } from './billing-request';

export type OneOffRequest = Pick<
  BillingRequest,
  'customerId' | 'collection' | 'daysUntilDue' | 'metadata'
> & {
  /** ISO 4217; null: the currency of the customer. */
  readonly currency: string | null;
  readonly lines: readonly FixedLineRequest[];
};
