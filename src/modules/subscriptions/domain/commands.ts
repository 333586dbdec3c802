import type { Metadata } from '../../../core/metadata';
import type { AddonQuantity, BillingAnchorMode, PaymentBehavior } from './subscription';

/** Terms of a new subscription. */
export interface CreateSubscription {
  readonly customerId: string;
  readonly planId: string;
  readonly quantity: string;
  readonly addons: readonly AddonQuantity[];
  /** The code of a coupon. */
  readonly coupon: string | null;
  /** Start of the subscription; null: now. */
  readonly startAt: Date | null;
  readonly billingAnchor: BillingAnchorMode;
  /** Days of the trial; null: those of the plan. */
  readonly trialDays: number | null;
  readonly collection: 'automatic' | 'send_invoice';
  readonly daysUntilDue: number;
  readonly paymentBehavior: PaymentBehavior;
  readonly metadata: Metadata;
}

/** Choice of a plan version: the one the subscription has, the active one, or one by id. */
export type PlanVersionChoice = 'current' | 'latest' | { readonly id: string };

/** New terms of a subscription; null keeps the present ones. */
export interface ChangeSubscription {
  readonly planId: string | null;
  /** Null: the current version without a `planId`, the latest one with it. */
  readonly planVersion: PlanVersionChoice | null;
  readonly quantity: string | null;
  readonly addons: readonly AddonQuantity[] | null;
  readonly when: 'now' | 'period_end';
  /** Null: the proration of the plan. */
  readonly proration: 'prorate' | 'none' | null;
}

export interface CancelSubscription {
  readonly when: 'now' | 'period_end' | 'at';
  /** Set only if `when` is `at`. */
  readonly at: Date | null;
  readonly creditUnused: boolean;
}
