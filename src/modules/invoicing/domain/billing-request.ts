import type { Metadata } from '../../../core/metadata';
import type { Period } from '../../../core/time';
import type { RefundedOf } from './given-back';
import type { Collection, InvoiceReason } from './invoice';
import type { LateUsageRequest, LineItemRequest } from './line-item-request';

/** The billing periods of subscriptions, by subscription id. */
export type BillingPeriods = ReadonlyMap<string, readonly Period[]>;

/** Refunds and late usage that limit or cause credits of earlier invoices. Absent fields: no refunds, no late usage. */
export interface GivenBackTerms {
  /** Refunds of the invoices that credits and corrections take from, read under the lock of their payments. */
  readonly refunded?: RefundedOf;
  /**
   * Late usage that the invoice may bill, read before the payments were locked. Later events are left for the next invoice. Late
   * usage of other subscriptions is ignored.
   */
  readonly late?: readonly LateUsageRequest[];
  /** Billing periods of the subscriptions with late usage, because a coupon has an amount for each period. */
  readonly periods?: BillingPeriods;
}

/** Billing request: what an invoice is made from. Taxes, coupons and credit come from the billing context. */
export interface BillingRequest extends GivenBackTerms {
  readonly reason: InvoiceReason;
  readonly customerId: string;
  readonly subscriptionId: string | null;
  readonly renewsAt: Date | null;
  readonly currency: string;
  readonly period: Period | null;
  /** Billing period of the subscription; null: no subscription. */
  readonly billingPeriod: Period | null;
  readonly lines: readonly LineItemRequest[];
  readonly collection: Collection;
  readonly daysUntilDue: number;
  readonly metadata: Metadata;
  /**
   * `billed`: bills the late usage of the subscription even without other lines. `closed`: also closes that usage, on the last
   * invoice. Undefined: bills late usage only if there are other lines.
   */
  readonly lateUsage?: 'billed' | 'closed' | undefined;
}
