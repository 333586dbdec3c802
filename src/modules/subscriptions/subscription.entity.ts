import { Check, Column, Entity, Index } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import type { Interval } from '../../core/time';
import {
  IdColumn,
  InstantColumn,
  MetadataColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type {
  AddonQuantity,
  BillingAnchorMode,
  PaymentBehavior,
  ProrationMode,
  Subscription,
  SubscriptionStatus,
} from './domain/subscription';
import { RENEWS } from './subscription-query';

@Entity('subscription')
@Index('subscription_customer_index', ['customerId', 'id'])
@Index('subscription_test_clock_index', ['testClockId'], { where: '"test_clock_id" IS NOT NULL' })
@Index('subscription_status_index', ['status', 'id'])
@Index('subscription_plan_index', ['planId', 'id'])
@Index('subscription_renews_index', ['currentPeriodEndAt', 'id'], { where: RENEWS })
@Index('subscription_due_index', ['nextBillingAt', 'id'], {
  where: '"next_billing_at" IS NOT NULL AND "test_clock_id" IS NULL',
})
@Index('subscription_test_clock_due_index', ['testClockId', 'nextBillingAt', 'id'], {
  where: '"next_billing_at" IS NOT NULL AND "test_clock_id" IS NOT NULL',
})
@Check(
  'subscription_status_check',
  `"status" IN ('incomplete', 'trialing', 'active', 'past_due', 'unpaid', 'paused', 'canceled', 'incomplete_expired')`,
)
@Check('subscription_paused_check', `("status" = 'paused') = ("paused_at" IS NOT NULL)`)
@Check(
  'subscription_ended_check',
  `("status" IN ('canceled', 'incomplete_expired')) = ("ended_at" IS NOT NULL)`,
)
@Check(
  'subscription_payment_behavior_check',
  `"payment_behavior" IN ('allow_active', 'default_incomplete')`,
)
@Check(
  'subscription_incomplete_check',
  `"incomplete_expires_at" IS NULL OR ("status" = 'incomplete' AND "payment_behavior" = 'default_incomplete')`,
)
@Check(
  'subscription_due_check',
  `"next_billing_at" IS NULL OR "status" NOT IN ('canceled', 'incomplete_expired')`,
)
@Check(
  'subscription_renewal_failure_check',
  `("renewal_failed_at" IS NULL) = ("renewal_failure_code" IS NULL)`,
)
@Check(
  'subscription_running_check',
  `"status" IN ('incomplete', 'canceled', 'incomplete_expired') OR ("current_period_start_at" IS NOT NULL AND "current_period_end_at" IS NOT NULL)`,
)
@Check(
  'subscription_terms_check',
  `"quantity" >= 0 AND "interval_count" >= 1 AND "days_until_due" >= 0`,
)
@Check('subscription_period_check', `"current_period_start_at" <= "current_period_end_at"`)
@Check('subscription_collection_check', `"collection" IN ('automatic', 'send_invoice')`)
@Check('subscription_billing_anchor_check', `"billing_anchor" IN ('anniversary', 'calendar')`)
@Check('subscription_interval_check', `"interval" IN ('day', 'week', 'month', 'year')`)
@Check('subscription_proration_check', `"proration" IN ('day', 'second', 'none')`)
export class SubscriptionEntity implements Subscription {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ to: 'TestClockEntity', nullable: true }) readonly testClockId!: string | null;
  @Column({ type: 'varchar', length: 20 }) readonly status!: SubscriptionStatus;
  @ReferenceColumn({ to: 'PlanEntity' }) readonly planId!: string;
  @ReferenceColumn({ to: 'PlanVersionEntity' }) readonly planVersionId!: string;
  @Column({ type: 'numeric' }) readonly quantity!: string;
  @Column({ type: 'jsonb' }) readonly addons!: readonly AddonQuantity[];
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @Column({ type: 'varchar', length: 64 }) readonly timeZone!: string;
  @Column({ type: 'varchar', length: 20 }) readonly collection!: 'automatic' | 'send_invoice';
  @Column({ type: 'integer' }) readonly daysUntilDue!: number;
  @Column({ type: 'varchar', length: 20, default: 'allow_active' })
  readonly paymentBehavior!: PaymentBehavior;
  @Column({ type: 'varchar', length: 20 }) readonly billingAnchor!: BillingAnchorMode;
  @Column({ type: 'varchar', length: 10 }) readonly interval!: Interval;
  @Column({ type: 'integer' }) readonly intervalCount!: number;
  @Column({ type: 'varchar', length: 10 }) readonly proration!: ProrationMode;
  @InstantColumn() readonly startAt!: Date;
  @InstantColumn({ nullable: true }) readonly incompleteExpiresAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly trialEndAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly trialEndingAt!: Date | null;
  @InstantColumn() readonly anchorAt!: Date;
  @InstantColumn({ nullable: true }) readonly currentPeriodStartAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly currentPeriodEndAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly pausedAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly cancelAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly canceledAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly endedAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly nextBillingAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly renewalFailedAt!: Date | null;
  @Column({ type: 'varchar', length: 64, nullable: true })
  readonly renewalFailureCode!: string | null;
  /** Time until which a worker has claimed the due work of the subscription. Null: the work is not claimed. */
  @InstantColumn({ nullable: true }) readonly leaseEndsAt!: Date | null;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
