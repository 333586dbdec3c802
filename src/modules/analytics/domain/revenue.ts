import type { Period } from '../../../core/time';

export const REVENUE_GROUPS = ['plan', 'customer', 'account'] as const;
export type RevenueGroup = (typeof REVENUE_GROUPS)[number];

/** Sums of ledger postings in one currency, window (e.g. a month) and group (e.g. a plan), in minor units as text. */
export interface RevenueRow {
  readonly currency: string;
  readonly period: Period;
  /**
   * Id of the plan or customer, or name of the account, by which revenue is grouped. Null if it is not grouped, or if
   * it is grouped by plan and belongs to no plan.
   */
  readonly key: string | null;
  /** Name of the customer if revenue is grouped by customer, otherwise null. */
  readonly name: string | null;
  /** True if the customer is deleted. Null if revenue is not grouped by customer. */
  readonly isDeleted: boolean | null;
  readonly gross: string;
  readonly discounts: string;
  /** `gross` minus `discounts`. */
  readonly earned: string;
  readonly deferred: string;
  readonly refunds: string;
  readonly writtenOff: string;
  readonly tax: string;
}
