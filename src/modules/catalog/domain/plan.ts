import type { Metadata } from '../../../core/metadata';
import type { Price, PriceTerms } from './price';

export const PLAN_INTERVALS = ['day', 'week', 'month', 'year'] as const;
export type PlanInterval = (typeof PLAN_INTERVALS)[number];

/** What a change within a period is weighed by; `none`: nothing is credited or charged for a part of a period. */
export const PLAN_PRORATIONS = ['day', 'second', 'none'] as const;
export type PlanProration = (typeof PLAN_PRORATIONS)[number];

/**
 * When a metered allowance starts anew: with each billing period, with each day, week (Monday), month or year of the
 * calendar in the zone of the subscription, or never.
 */
export const ENTITLEMENT_RESETS = ['period', 'day', 'week', 'month', 'year', 'never'] as const;
export type EntitlementReset = (typeof ENTITLEMENT_RESETS)[number];

/** What a subscriber of the plan is allowed. */
export interface PlanEntitlement {
  readonly entitlementId: string;
  /** Decimal string; null for a boolean entitlement, or for a number without a limit. */
  readonly value: string | null;
  /** Whether usage beyond the value is refused, rather than counted as overage. */
  readonly isHardLimit: boolean;
  readonly reset: EntitlementReset;
}

/** What a plan says at one time. Never changes once it is made: a change is a new version. */
export interface PlanVersion {
  readonly id: string;
  readonly planId: string;
  /** 1 for the first version of the plan. */
  readonly number: number;
  readonly interval: PlanInterval;
  /** Intervals that a period is long: 3 with `month` bills by the quarter. */
  readonly intervalCount: number;
  readonly trialDays: number;
  readonly proration: PlanProration;
  /** In the order they were sent, all in the currency of the plan. */
  readonly prices: readonly Price[];
  readonly entitlements: readonly PlanEntitlement[];
  readonly createdAt: Date;
}

/** What customers subscribe to. */
export interface Plan {
  readonly id: string;
  /** Counts the changes of the plan's own row; not the number of its active version. */
  readonly version: number;
  /** Unique for ever, also among archived plans. */
  readonly code: string;
  readonly name: string;
  /** ISO 4217; of all prices of all versions. */
  readonly currency: string;
  /** The newest one: what a new subscription is for. Those that run keep theirs. */
  readonly activeVersion: PlanVersion;
  readonly metadata: Metadata;
  /** Set when it was archived: nobody can subscribe to it any more, what runs goes on. */
  readonly archivedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What a version is made of. */
export type PlanVersionTerms = Pick<
  PlanVersion,
  'interval' | 'intervalCount' | 'trialDays' | 'proration' | 'entitlements'
> & { readonly prices: readonly PriceTerms[] };

/** What a further version is made of; but for the prices, what is left out is as in the version before. */
export type PlanVersionChange = Pick<PlanVersionTerms, 'prices'> & {
  readonly [Field in Exclude<keyof PlanVersionTerms, 'prices'>]:
    PlanVersionTerms[Field] | undefined;
};

/** What a new plan is made of. */
export type PlanTerms = Pick<Plan, 'code' | 'name' | 'currency' | 'metadata'> & PlanVersionTerms;

/** What an update may change; what is left out stays. */
export interface PlanChange {
  readonly name?: string | undefined;
  readonly metadata?: Metadata | undefined;
}

/** The terms of the version that follows one, where a change may leave terms out. */
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
