import type { Period } from '../../../core/time';

export const REVENUE_GROUPS = ['plan', 'customer', 'account'] as const;
export type RevenueGroup = (typeof REVENUE_GROUPS)[number];

/** Movements of the accounts of revenue in one window, in minor units as text. */
export interface RevenueRow {
  readonly currency: string;
  readonly period: Period;
  /** Plan, customer or account; null without a group, and for revenue without a plan. */
  readonly key: string | null;
  /** Only of customers. */
  readonly name: string | null;
  /** Only of customers. */
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
