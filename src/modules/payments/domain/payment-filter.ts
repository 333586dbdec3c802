import type { AmountRange } from '../../../core/money';
import type { InstantRange } from '../../../core/time';
import type { PaymentStatus } from './payment';

/** Filter of a list of payments. A null field matches all payments. */
export interface PaymentFilter {
  readonly customerId: string | null;
  readonly invoiceId: string | null;
  /** True: only payments of customers that are not on a test clock. False: all payments. */
  readonly isInRealTime: boolean;
  readonly statuses: readonly PaymentStatus[] | null;
  readonly failureCode: string | null;
  readonly currency: string | null;
  readonly amount: AmountRange;
  readonly created: InstantRange;
}
