import type { Metadata } from '../../../core/metadata';
import type { Period } from '../../../core/time';
import type { RefundedOf } from './given-back';
import type { Collection, InvoiceReason } from './invoice';
import type { LateUsageRequest, LineItemRequest } from './line-item-request';

export type BillingPeriods = ReadonlyMap<string, readonly Period[]>;

/**
 * Data about earlier invoices: refunds, which limit how much of these invoices can be credited, and late usage
 * (accepted after its period was billed), which can cause credits. A field is absent if there is no such data.
 */
export interface GivenBackTerms {
  /**
   * Refunded amounts of the earlier invoices that this invoice may credit or correct. They were read under a lock on
   * the payments of these invoices.
   */
  readonly refunded?: RefundedOf;
  /**
   * Late usage that the invoice may bill, read before the payments were locked. Events accepted after this read are
   * left to the next invoice. Entries of other subscriptions are ignored.
   */
  readonly late?: readonly LateUsageRequest[];
  /**
   * Billing periods of the subscriptions with late usage. Needed for coupons that take off an amount in each billing
   * period.
   */
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
   * How late usage (accepted after its period was billed) is billed. `billed`: even if there are no other lines.
   * `closed`: the same, for the last invoice of the subscription; usage that arrives later gets an invoice of its own.
   * Undefined: only together with other lines.
   */
  readonly lateUsage?: 'billed' | 'closed' | undefined;
}
