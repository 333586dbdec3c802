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

/** `incomplete` waits for its start, and then for its first payment where it was sold so; either may never come. */
export const SUBSCRIPTION_TRANSITIONS: Transitions<SubscriptionStatus> = {
  incomplete: [
    'trialing',
    'active',
    'past_due',
    'unpaid',
    'paused',
    'canceled',
    'incomplete_expired',
  ],
  // A trial is free and ends on its date: it cannot be paused.
  trialing: ['active', 'past_due', 'unpaid', 'canceled'],
  active: ['past_due', 'unpaid', 'paused', 'canceled'],
  past_due: ['active', 'unpaid', 'paused', 'canceled'],
  unpaid: ['active', 'past_due', 'paused', 'canceled'],
  paused: ['active', 'past_due', 'unpaid', 'canceled'],
  canceled: [],
  incomplete_expired: [],
};

export const BILLING_ANCHORS = ['anniversary', 'calendar'] as const;
export type BillingAnchorMode = (typeof BILLING_ANCHORS)[number];

/** A subscription is active from its start, or once its first invoice is paid. */
export const PAYMENT_BEHAVIORS = ['allow_active', 'default_incomplete'] as const;
export type PaymentBehavior = (typeof PAYMENT_BEHAVIORS)[number];

export type ProrationMode = 'day' | 'second' | 'none';

/** An add-on beside the plan. */
export interface AddonQuantity {
  readonly addonId: string;
  /** Decimal string. */
  readonly quantity: string;
}

/** A customer's subscription to a plan, and how far it is billed. */
export interface Subscription {
  readonly id: string;
  readonly version: number;
  readonly customerId: string;
  /** The test clock it follows; null: the real one. */
  readonly testClockId: string | null;
  readonly status: SubscriptionStatus;
  readonly planId: string;
  readonly planVersionId: string;
  /** Quantity of the plan's prices; decimal string. */
  readonly quantity: string;
  readonly addons: readonly AddonQuantity[];
  readonly currency: string;
  /** IANA zone of the customer when it subscribed: periods are counted in it for good. */
  readonly timeZone: string;
  readonly collection: 'automatic' | 'send_invoice';
  readonly daysUntilDue: number;
  readonly paymentBehavior: PaymentBehavior;
  readonly billingAnchor: BillingAnchorMode;
  readonly interval: Interval;
  readonly intervalCount: number;
  readonly proration: ProrationMode;
  readonly startAt: Date;
  /** Time limit of its first payment; null unless it waits for one. */
  readonly incompleteExpiresAt: Date | null;
  readonly trialEndAt: Date | null;
  /** When to announce the end of its trial; null once announced, and without a trial. */
  readonly trialEndingAt: Date | null;
  /** The start of the period with index 0; moves with a change of the interval and after a pause. */
  readonly anchorAt: Date;
  readonly currentPeriodStartAt: Date | null;
  readonly currentPeriodEndAt: Date | null;
  readonly pausedAt: Date | null;
  /** When it is to end, where that is planned. */
  readonly cancelAt: Date | null;
  /** When the cancellation was requested. */
  readonly canceledAt: Date | null;
  readonly endedAt: Date | null;
  /** When the next work falls due: billing, an end or an announcement; null when nothing is planned. */
  readonly nextBillingAt: Date | null;
  /** Since when the work that is due is refused, as an invoice above the largest amount is; null once it succeeds. */
  readonly renewalFailedAt: Date | null;
  /** Error code of that refusal. */
  readonly renewalFailureCode: string | null;
  readonly metadata: Metadata;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A price as it was sold; it never changes under a subscription. */
export interface SoldPrice {
  readonly priceId: string;
  readonly name: string;
  readonly timing: 'in_advance' | 'in_arrears';
  readonly rating: Price;
  readonly minimumMinor: bigint | null;
  readonly maximumMinor: bigint | null;
  /** Meter that counts the quantity; absent for an agreed quantity. */
  readonly usage?: SoldUsage;
}

export interface SoldUsage {
  readonly meterId: string;
  /** True if each group of the meter is priced separately. */
  readonly isByGroup: boolean;
}

/** A price with its quantity, for as long as they are billed. */
export interface SubscriptionItem {
  readonly id: string;
  readonly subscriptionId: string;
  /** Null: a price of the plan. */
  readonly addonId: string | null;
  readonly price: SoldPrice;
  /** Decimal string; `1` of a flat price and of one for usage. */
  readonly quantity: string;
  /** Proration of the plan version it was sold with, also after later changes. */
  readonly proration: ProrationMode;
  readonly startAt: Date;
  /** Exclusive; null: until further notice. */
  readonly endAt: Date | null;
  /** True if a pause ended it. */
  readonly isPaused: boolean;
  /** When it would have ended without the pause; null: it would not have, or there is no pause. */
  readonly plannedEndAt: Date | null;
}

/** A period that is billed, or that is free for a trial. */
export interface SubscriptionPeriod {
  readonly id: string;
  readonly subscriptionId: string;
  /** Number of the period since the anchor at its start. */
  readonly index: number;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly fullStartAt: Date;
  readonly fullEndAt: Date;
  readonly isTrial: boolean;
  /** Set once what it bills in arrears was billed. */
  readonly isClosed: boolean;
}

/** A plan with quantities and add-ons, resolved to prices: what a subscription is changed to. */
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

/** A change that waits for its time. */
export interface ScheduledChange {
  readonly id: string;
  readonly subscriptionId: string;
  readonly terms: ScheduledTerms;
  readonly effectiveAt: Date;
  readonly status: ScheduledStatus;
  readonly createdAt: Date;
}

/** All that a decision about a subscription is made from. */
export interface Snapshot {
  readonly subscription: Subscription;
  /** Items that had not ended before the newest period, and those that a pause ended. */
  readonly items: readonly SubscriptionItem[];
  /** The newest; null before the start. */
  readonly period: SubscriptionPeriod | null;
  /** At most one: the next one waits until this was undone or applied. */
  readonly pending: ScheduledChange | null;
}

/** Returns when the subscription is next billed or ends. Ignores the announcement of the trial's end. */
export function billedNextAt({
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

/** Returns the unit of prorated parts of a period. Dates, if only the caller asks for proration. */
export function unitOf({ proration }: Pick<SubscriptionItem, 'proration'>): 'day' | 'second' {
  return proration === 'second' ? 'second' : 'day';
}
