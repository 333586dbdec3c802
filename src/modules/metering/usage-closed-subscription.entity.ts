import { Check, Entity, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';

/** Subscription whose last invoice was made. Usage that changes afterwards is billed on a separate invoice. */
@Entity('usage_closed_subscription')
@Index('usage_closed_subscription_due_index', ['lateDueAt', 'id'], {
  where: '"late_due_at" IS NOT NULL AND "test_clock_id" IS NULL',
})
@Index('usage_closed_subscription_test_clock_due_index', ['testClockId', 'lateDueAt', 'id'], {
  where: '"late_due_at" IS NOT NULL AND "test_clock_id" IS NOT NULL',
})
@Index('usage_closed_subscription_customer_index', ['customerId'])
@Check('usage_closed_subscription_check', `"lease_ends_at" IS NULL OR "late_due_at" IS NOT NULL`)
export class UsageClosedSubscriptionEntity {
  @IdColumn() readonly id!: string;
  @ReferenceColumn() readonly customerId!: string;
  /** Test clock of the customer; null: real time. */
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  /** Time at which late usage is billed; null if there is no late usage to bill. */
  @InstantColumn({ nullable: true }) readonly lateDueAt!: Date | null;
  /** End of the lease of the worker that bills the late usage; null if no worker has claimed it. */
  @InstantColumn({ nullable: true }) readonly leaseEndsAt!: Date | null;
}
