import type { Metadata } from '../../../core/metadata';
import type { Price } from '../../../core/rating';
import type { Transitions } from '../../../core/states';
import type { BillingAnchor, Interval, Period } from '../../../core/time';

export const SUBSCRIPTION_STATUSES = [
  'incomplete',
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
  'canceled',
  'incomplete_expired',
] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** Statuses in which a new period begins when the current one ends. */
export const RENEWING_STATUSES: readonly SubscriptionStatus[] = [
  'trialing',
  'active',
  'past_due',
  'unpaid',
];

/**
 * Allowed changes of status. A subscription is `incomplete` until its start or, with `default_incomplete`, until its
 * first payment.
 */
export const SUBSCRIPTION_TRANSITIONS: Transitions<SubscriptionStatus> = {
  incomplete: ['trialing', 'active', 'past_due', 'unpaid', 'canceled', 'incomplete_expired'],
  // A trial cannot be paused, because it is free and ends on a fixed date.
  trialing: ['active', 'past_due', 'unpaid', 'canceled'],
  active: ['past_due', 'unpaid', 'paused', 'canceled'],
  past_due: ['active', 'unpaid', 'canceled'],
  unpaid: ['active', 'past_due', 'canceled'],
  paused: ['active', 'past_due', 'unpaid', 'canceled'],
  canceled: [],
  incomplete_expired: [],
};

export const BILLING_ANCHORS = ['anniversary', 'calendar'] as const;
export type BillingAnchorMode = (typeof BILLING_ANCHORS)[number];

/** `allow_active`: active from its start. `default_incomplete`: active after its first invoice is paid. */
export const PAYMENT_BEHAVIORS = ['allow_active', 'default_incomplete'] as const;
export type PaymentBehavior = (typeof PAYMENT_BEHAVIORS)[number];

export type ProrationMode = 'day' | 'second' | 'none';

export interface AddonQuantity {
  readonly addonId: string;
  readonly quantity: string;
}

export interface Subscription {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  readonly testClockId: string | null;
  readonly status: SubscriptionStatus;
  readonly planId: string;
  readonly planVersionId: string;
  readonly quantity: string;
  readonly addons: readonly AddonQuantity[];
  readonly currency: string;
  /**
   * IANA time zone of the customer when the subscription was created. Periods keep it, even if the customer's zone
   * changes.
   */
  readonly timeZone: string;
  readonly collection: 'automatic' | 'send_invoice';
  readonly daysUntilDue: number;
  readonly paymentBehavior: PaymentBehavior;
  readonly billingAnchor: BillingAnchorMode;
  readonly interval: Interval;
  readonly intervalCount: number;
  readonly proration: ProrationMode;
  readonly startAt: Date;
  /** Time limit of the first payment; null if the subscription does not wait for a first payment. */
  readonly incompleteExpiresAt: Date | null;
  readonly trialEndAt: Date | null;
  /** When to announce the end of the trial; null: already announced, or no trial. */
  readonly trialEndingAt: Date | null;
  /**
   * Start of the period with index 0. Moves when the interval changes, a trial ends, or a subscription resumes after
   * its paid period.
   */
  readonly anchorAt: Date;
  readonly currentPeriodStartAt: Date | null;
  readonly currentPeriodEndAt: Date | null;
  readonly pausedAt: Date | null;
  readonly cancelAt: Date | null;
  /**
   * When the cancellation was requested. If the subscription ended without a request, when it ended. Null: not
   * canceled.
   */
  readonly canceledAt: Date | null;
  readonly endedAt: Date | null;
  /** When the next work (billing, an end or an announcement) is due; null: none. */
  readonly nextBillingAt: Date | null;
  /**
   * Time at which due work, such as a renewal, first failed since it last succeeded. Due work fails, for example, if an
   * invoice would exceed the maximum amount. Null: the last attempt succeeded.
   */
  readonly renewalFailedAt: Date | null;
  /** Error code of the last failure; null if `renewalFailedAt` is null. */
  readonly renewalFailureCode: string | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A copy of a catalog price as it was sold. It never changes. */
export interface SoldPrice {
  readonly priceId: string;
  readonly name: string;
  readonly timing: 'in_advance' | 'in_arrears';
  readonly rating: Price;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
  readonly usage?: SoldUsage;
}

export interface SoldUsage {
  readonly meterId: string;
  readonly isByGroup: boolean;
}

/**
 * Cause of the end of an item. Only causes that determine how the end is counted:
 * - `pause`: with proration by day, the date of the pause is billed.
 * - `day_change`, `second_change`: a change to a plan version that counts the end by day or by second.
 */
export type ItemEnd = 'pause' | 'day_change' | 'second_change';

/** A price with its quantity, and the span in which it is billed. */
export interface SubscriptionItem {
  readonly id: string;
  readonly subscriptionId: string;
  /** Null: a price of the plan. */
  readonly addonId: string | null;
  readonly price: SoldPrice;
  /** Decimal string; `1` for a flat or metered price. */
  readonly quantity: string;
  /** Proration of the plan version with which the item was sold. Later changes of the plan do not affect it. */
  readonly proration: ProrationMode;
  readonly startAt: Date;
  /** Exclusive; null: no end is planned. */
  readonly endAt: Date | null;
  /** True if a pause of the subscription set `endAt`. A resume sets this field to false. */
  readonly isPaused: boolean;
  /**
   * `endAt` as it was before a pause ended the item. A resume restores it. Null: no end was planned, or there was no
   * pause.
   */
  readonly plannedEndAt: Date | null;
  /** Null: the end is counted in the unit of the item's own proration. */
  readonly endedBy: ItemEnd | null;
}

/** A billing period, or the free period of a trial. */
export interface SubscriptionPeriod {
  readonly id: string;
  readonly subscriptionId: string;
  /** Number of the period, from 0. Restarts when the billing anchor moves. */
  readonly index: number;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly fullStartAt: Date;
  readonly fullEndAt: Date;
  readonly isTrial: boolean;
  /**
   * True if a change of the interval or the end of the subscription ended the period, or if it ended during a pause.
   * Stays false at an ordinary renewal.
   */
  readonly isClosed: boolean;
}

/** A plan version and add-ons with quantities, resolved to prices: the terms of a new or changed subscription. */
export interface Offer {
  readonly planId: string;
  readonly planVersionId: string;
  readonly interval: Interval;
  readonly intervalCount: number;
  readonly proration: ProrationMode;
  readonly quantity: string;
  readonly addons: readonly AddonQuantity[];
  readonly items: readonly Pick<SubscriptionItem, 'addonId' | 'price' | 'quantity'>[];
}

export const SCHEDULED_STATUSES = ['pending', 'applied', 'undone'] as const;
export type ScheduledStatus = (typeof SCHEDULED_STATUSES)[number];

export type ScheduledTerms =
  | { readonly kind: 'change'; readonly offer: Offer }
  | { readonly kind: 'cancel'; readonly creditUnused: boolean };

export interface ScheduledChange {
  readonly id: string;
  readonly subscriptionId: string;
  readonly terms: ScheduledTerms;
  readonly effectiveAt: Date;
  readonly status: ScheduledStatus;
  readonly createdAt: Date;
}

/**
 * A subscription with its items, newest period and scheduled change. Input of the functions that decide what to bill.
 */
export interface Snapshot {
  readonly subscription: Subscription;
  /** Items that had not ended before the newest period, and items that a pause ended. */
  readonly items: readonly SubscriptionItem[];
  /** The newest period; null if the subscription has not started. */
  readonly period: SubscriptionPeriod | null;
  /**
   * The scheduled change or cancellation; null: none. A subscription has at most one: it must be applied or undone
   * before another one can be scheduled.
   */
  readonly pending: ScheduledChange | null;
}

/** Returns when the subscription is next billed or ends. Ignores the announcement of the trial's end. */
export function nextBillingOrEndAt({
  nextBillingAt,
  trialEndingAt,
  trialEndAt,
  cancelAt,
}: Subscription): Date | null {
  if (
    trialEndingAt === null ||
    trialEndAt === null ||
    nextBillingAt?.getTime() !== trialEndingAt.getTime()
  ) {
    return nextBillingAt;
  }
  return cancelAt !== null && cancelAt < trialEndAt ? cancelAt : trialEndAt;
}

export function anchorOf(subscription: Subscription): BillingAnchor {
  return {
    mode: subscription.billingAnchor,
    startAt: subscription.anchorAt,
    timeZone: subscription.timeZone,
    interval: subscription.interval,
    intervalCount: subscription.intervalCount,
  };
}

export function spanOf({ startAt, endAt }: Period): Period {
  return { startAt, endAt };
}

export function fullSpanOf({ fullStartAt, fullEndAt }: SubscriptionPeriod): Period {
  return { startAt: fullStartAt, endAt: fullEndAt };
}

/**
 * Returns the unit in which parts of a period are prorated. If an item with proration `none` is prorated at all, the
 * unit is `day`.
 */
export function unitOf({ proration }: Pick<SubscriptionItem, 'proration'>): 'day' | 'second' {
  return proration === 'second' ? 'second' : 'day';
}
