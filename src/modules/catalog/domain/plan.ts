import type { Metadata } from '../../../core/metadata';
import type { ChangeOf } from '../../../core/next-version';
import type { CatalogPrice, PriceTerms } from './price';

export const PLAN_INTERVALS = ['day', 'week', 'month', 'year'] as const;
export type PlanInterval = (typeof PLAN_INTERVALS)[number];

/**
 * Unit of proration. A part of a period costs its share of the days or of the seconds of the period. `none`: a change
 * during a period charges or credits nothing for the rest of the period, unless the request asks for proration.
 */
export const PLAN_PRORATIONS = ['day', 'second', 'none'] as const;
export type PlanProration = (typeof PLAN_PRORATIONS)[number];

/**
 * Time at which the usage that counts against a metered allowance starts again from 0:
 * - `period`: at the start of each billing period.
 * - `day`, `week` (from Monday), `month`, `year`: at the start of each calendar unit in the time zone of the
 *   subscription.
 * - `never`: not at all.
 */
export const ENTITLEMENT_RESETS = ['period', 'day', 'week', 'month', 'year', 'never'] as const;
export type EntitlementReset = (typeof ENTITLEMENT_RESETS)[number];

export interface PlanEntitlement {
  readonly entitlementId: string;
  /** Number or allowance, as a decimal string. Null for a boolean entitlement, and for a metered one with no limit. */
  readonly value: string | null;
  /** If true, usage beyond the value is refused; otherwise it is overage. */
  readonly isHardLimit: boolean;
  readonly reset: EntitlementReset;
}

/** Immutable terms of a plan. A change creates a new version. */
export interface PlanVersion {
  readonly id: string;
  readonly planId: string;
  /** Number of the version, from 1. */
  readonly number: number;
  readonly interval: PlanInterval;
  /** Number of intervals in a billing period: 3 with the interval `month` is a quarter. */
  readonly intervalCount: number;
  readonly trialDays: number;
  readonly proration: PlanProration;
  /** Prices in the order of the request, all in the currency of the plan. */
  readonly prices: readonly CatalogPrice[];
  readonly entitlements: readonly PlanEntitlement[];
  readonly createdAt: Date;
}

export interface Plan {
  readonly id: string;
  /** Row version of the plan, not the number of its active version. */
  readonly version: number;
  /** Unique among all plans; the code of an archived plan cannot be used again. */
  readonly code: string;
  readonly name: string;
  /** ISO 4217; the currency of all prices of all versions. */
  readonly currency: string;
  /** Newest version, used by new subscriptions. Running subscriptions keep their version. */
  readonly activeVersion: PlanVersion;
  readonly metadata: Metadata;
  /** Null: not archived. An archived plan accepts no new subscriptions; running ones continue. */
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type PlanVersionTerms = Pick<
  PlanVersion,
  'interval' | 'intervalCount' | 'trialDays' | 'proration' | 'entitlements'
> & { readonly prices: readonly PriceTerms[] };

/** Fields of a new version of a plan. Omitted fields are copied from the previous version; `prices` must be given. */
export type PlanVersionChange = Pick<PlanVersionTerms, 'prices'> & {
  readonly [Field in Exclude<keyof PlanVersionTerms, 'prices'>]:
    PlanVersionTerms[Field] | undefined;
};

/** Fields of a plan that the API can show inside an object that refers to the plan. */
export type PlanName = Pick<Plan, 'id' | 'code' | 'name' | 'archivedAt'>;

export type PlanTerms = Pick<Plan, 'code' | 'name' | 'currency' | 'metadata'> & PlanVersionTerms;

export type PlanDetailsChange = ChangeOf<Plan, 'name' | 'metadata'>;

export function nextTerms(before: PlanVersion, change: PlanVersionChange): PlanVersionTerms {
  return {
    interval: change.interval ?? before.interval,
    intervalCount: change.intervalCount ?? before.intervalCount,
    trialDays: change.trialDays ?? before.trialDays,
    proration: change.proration ?? before.proration,
    entitlements: change.entitlements ?? before.entitlements,
    prices: change.prices,
  };
}
