import type { Metadata } from '../../../core/metadata';
import type { Period } from '../../../core/time';
import type { RefundedOf } from './given-back';
import type { Collection, InvoiceReason } from './invoice';
import type { LateUsageOrder, LineOrder } from './line-order';

/** The billing periods of subscriptions, by subscription id. */
export type BillingPeriods = ReadonlyMap<string, readonly Period[]>;

/** Amounts that an invoice may give back of earlier invoices. Left out: nothing was refunded, and no usage is late. */
export interface GivenBackTerms {
  /** Refunds of the invoices that credits and corrections take from, read under the lock of their payments. */
  readonly refunded?: RefundedOf;
  /**
   * Late usage that it may bill, read before these locks were taken: what came later is left for the next invoice. That of
   * other subscriptions is ignored.
   */
  readonly late?: readonly LateUsageOrder[];
  /** Billing periods of the subscriptions with late usage: coupons are left an amount for each of them. */
  readonly periods?: BillingPeriods;
}

/** Request for an invoice. Taxes, coupons and credit come from the billing context. */
export interface InvoiceOrder extends GivenBackTerms {
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
   * `billed`: bills the late usage of its subscription even if it orders no line. `closed`: also closes that usage, as the
   * last invoice. Undefined: bills late usage only together with ordered lines.
   */
  readonly lateUsage?: 'billed' | 'closed' | undefined;
}
