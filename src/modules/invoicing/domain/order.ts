import type { Metadata } from '../../../core/metadata';
import type { Period } from '../../../core/time';
import type { Collection, InvoiceReason } from './invoice';
import type { LineOrder } from './line-order';

/** What an invoice is to say; taxes, coupons and credit are found by whoever makes it. */
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
  readonly collection: Collection;
  readonly daysUntilDue: number;
  readonly metadata: Metadata;
  /**
   * Whether it bills the late usage of its subscription even if it orders no line, and whether it closes that usage as the
   * last invoice. Undefined: late usage is billed with lines that are ordered.
   */
  readonly lateUsage?: 'billed' | 'closed' | undefined;
}
