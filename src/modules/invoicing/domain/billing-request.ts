import type { Metadata } from '../../../core/metadata';
import type { Period } from '../../../core/time';
import type { RefundedOf } from './given-back';
import type { Collection, InvoiceReason } from './invoice';
import type { LateUsageRequest, LineItemRequest } from './line-item-request';

export type BillingPeriods = ReadonlyMap<string, readonly Period[]>;

/**
 * Data about earlier invoices, which this invoice may credit. Refunds limit these credits. Late usage (accepted after
 * its period was billed) can cause them. A field is absent if there is no such data.
 */
export interface GivenBackTerms {
  /**
   * Refunded amounts of the earlier invoices that this invoice may credit or correct. They were read under a lock on
   * the payments of these invoices.
   */
  readonly refunded?: RefundedOf;
  /**
   * Late usage that the invoice may bill. It was read before the payments were locked. Events accepted after that read
   * are billed by the next invoice. Entries of other subscriptions are ignored.
   */
  readonly late?: readonly LateUsageRequest[];
  /** Billing periods of the subscriptions with late usage. Some coupons count their discounts by billing period. */
  readonly periods?: BillingPeriods;
}

/** Input of an invoice calculation. Taxes, coupons and credit are not included; they come from the `BillingContext`. */
export interface BillingRequest extends GivenBackTerms {
  readonly reason: InvoiceReason;
  readonly customerId: string;
  readonly subscriptionId: string | null;
  readonly renewsAt: Date | null;
  readonly currency: string;
  readonly period: Period | null;
  readonly billingPeriod: Period | null;
  readonly lines: readonly LineItemRequest[];
  readonly collection: Collection;
  readonly daysUntilDue: number;
  readonly metadata: Metadata;
  /**
   * Decides when the invoice bills late usage (accepted after its period was billed):
   * - undefined: only together with other lines.
   * - `billed`: even if there are no other lines.
   * - `closed`: like `billed`, for the last invoice of the subscription. Usage that arrives after it gets an invoice of
   *   its own.
   */
  readonly lateUsage?: 'billed' | 'closed' | undefined;
}
