import type { Metadata } from '../../../core/metadata';
import type { Period } from '../../../core/time';
import type { RefundedOf } from './given-back';
import type { Collection, InvoiceReason } from './invoice';
import type { LineOrder } from './line-order';

/** Request for an invoice. Taxes, coupons and credit come from the billing context. */
export interface InvoiceOrder {
  readonly reason: InvoiceReason;
  readonly customerId: string;
  readonly subscriptionId: string | null;
  readonly renewsAt: Date | null;
  readonly currency: string;
  readonly period: Period | null;
  /** The billing period of the subscription that it belongs to; null where it is for none. */
  readonly billingPeriod: Period | null;
  readonly lines: readonly LineOrder[];
  /** Refunds of the invoices that its credits take from, read under the lock of their payments. Left out: none. */
  readonly refunded?: RefundedOf;
  readonly collection: Collection;
  readonly daysUntilDue: number;
  readonly metadata: Metadata;
  /**
   * `billed`: bills the late usage of its subscription even if it orders no line. `closed`: also closes that usage, as the
   * last invoice. Undefined: bills late usage only together with ordered lines.
   */
  readonly lateUsage?: 'billed' | 'closed' | undefined;
}
