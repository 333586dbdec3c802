import type { Metadata } from '../../../core/metadata';
import type { AddonQuantity, BillingAnchorMode, PaymentBehavior } from './subscription';

export interface CreateSubscription {
  readonly customerId: string;
  readonly planId: string;
  /** Plan version that the client expects. Any other fails with `plan_version_changed`. Null: any version. */
  readonly planVersionId: string | null;
  readonly quantity: string;
  readonly addons: readonly AddonQuantity[];
  readonly coupon: string | null;
  readonly startAt: Date | null;
  readonly billingAnchor: BillingAnchorMode;
  /** Null: the trial days of the plan version. */
  readonly trialDays: number | null;
  readonly collection: 'automatic' | 'send_invoice';
  readonly daysUntilDue: number;
  readonly paymentBehavior: PaymentBehavior;
  readonly metadata: Metadata;
}

/**
 * `current`: the version that the subscription has. `latest`: the active version of the plan. Otherwise a version by
 * id.
 */
export type PlanVersionChoice = 'current' | 'latest' | { readonly id: string };

/** New terms of a subscription. A null keeps the present plan, quantity or add-ons. */
export interface ChangeSubscription {
  readonly planId: string | null;
  /** Plan version to change to. Null: `current` if `planId` is null, otherwise `latest`. */
  readonly planVersion: PlanVersionChoice | null;
  /** Plan version that the client expects. Any other fails with `plan_version_changed`. Null: any version. */
  readonly planVersionId: string | null;
  readonly quantity: string | null;
  readonly addons: readonly AddonQuantity[] | null;
  readonly when: 'now' | 'period_end';
  /** Null: `none` if the new plan version has proration `none`, otherwise `prorate`. */
  readonly proration: 'prorate' | 'none' | null;
}

export interface CancelSubscription {
  readonly when: 'now' | 'period_end' | 'at';
  readonly at: Date | null;
  readonly creditUnused: boolean;
}
