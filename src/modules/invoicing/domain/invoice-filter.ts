import type { AmountRange } from '../../../core/money';
import type { InstantRange } from '../../../core/time';
import type { Collection, InvoiceReason, InvoiceStatus } from './invoice';

export const INVOICE_SORTS = ['total', 'due_at', 'finalized_at'] as const;
type InvoiceSort = (typeof INVOICE_SORTS)[number];

/** Null values do not filter. */
export interface InvoiceFilter {
  readonly customerId: string | null;
  readonly subscriptionId: string | null;
  readonly reissueOfId: string | null;
  readonly statuses: readonly InvoiceStatus[] | null;
  readonly number: string | null;
  readonly reason: InvoiceReason | null;
  readonly collection: Collection | null;
  readonly currency: string | null;
  readonly total: AmountRange;
  readonly isOverdue: boolean;
  /** True to leave out customers on test clocks. */
  readonly isInRealTime: boolean;
  readonly created: InstantRange;
  readonly finalized: InstantRange;
  readonly due: InstantRange;
  readonly sort: InvoiceSort | `-${InvoiceSort}` | null;
}
