import type { Metadata } from '../../../core/metadata';
import type { Period } from '../../../core/time';
import type { RefundedOf } from './given-back';
import type { Collection, InvoiceReason } from './invoice';
import type { LateUsageRequest, LineItemRequest } from './line-item-request';

/** The billing periods of subscriptions, by subscription id. */
export type BillingPeriods = ReadonlyMap<string, readonly Period[]>;

/**
 * Data about earlier invoices: refunds, which limit how much of these invoices can be credited, and late usage, which
 * can cause credits. If a field is absent, there is no such data.
 */
export interface GivenBackTerms {
  /**
   * Refunded amounts of the earlier invoices that this invoice may credit or correct, read while the payments of
   * these earlier invoices are locked.
   */
  readonly refunded?: RefundedOf;
  /**
   * Late usage that the invoice may bill, read before the payments were locked. The next invoice bills events that are
   * accepted after this read. Entries of other subscriptions are ignored.
   */
  readonly late?: readonly LateUsageRequest[];
  /**
   * Billing periods of the subscriptions with late usage. Needed for coupons that take off a fixed amount in each
   * billing period.
   */
  readonly periods?: BillingPeriods;
}

/** Input of an invoice calculation, except taxes, coupons and credit, which come from the `BillingContext`. */
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
   * `billed`: bills late usage of the subscription even if there are no other lines. `closed`: the same, for the last
   * invoice of the subscription; usage that arrives later gets an invoice of its own. Undefined: bills late usage only
   * together with other lines.
   */
  readonly lateUsage?: 'billed' | 'closed' | undefined;
}
