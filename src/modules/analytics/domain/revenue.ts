import type { Period } from '../../../core/time';

export const REVENUE_GROUPS = ['plan', 'customer', 'account'] as const;
export type RevenueGroup = (typeof REVENUE_GROUPS)[number];

/** Movements of the accounts of revenue in one window, in minor units as text. */
export interface RevenueRow {
  readonly currency: string;
  readonly period: Period;
  /** Id of the plan or customer, or name of the account; null without grouping, and for revenue without a plan. */
  readonly key: string | null;
  /** Name of the customer; null unless revenue is grouped by customer. */
  readonly name: string | null;
  /** Null unless revenue is grouped by customer. */
  readonly isDeleted: boolean | null;
  readonly gross: string;
  readonly discounts: string;
  /** Gross less discounts. */
  readonly earned: string;
  readonly deferred: string;
  readonly refunds: string;
  readonly writtenOff: string;
  readonly tax: string;
}
