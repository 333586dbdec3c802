import { Check, Entity, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';

/** A subscription whose last invoice was made: usage that changes later is billed by an invoice of its own. */
@Entity('usage_closed_subscription')
@Index('usage_closed_subscription_due_index', ['testClockId', 'lateDueAt'], {
  where: '"late_due_at" IS NOT NULL',
})
@Index('usage_closed_subscription_customer_index', ['customerId'])
@Check('usage_closed_subscription_check', `"lease_ends_at" IS NULL OR "late_due_at" IS NOT NULL`)
export class UsageClosedSubscriptionEntity {
  /** Id of the subscription. */
  @IdColumn() readonly id!: string;
  @ReferenceColumn() readonly customerId!: string;
  /** The test clock of its customer; null: real time. */
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  /** When its late usage is to be billed; null: it has none. */
  @InstantColumn({ nullable: true }) readonly lateDueAt!: Date | null;
  /** Until when a worker has claimed it. */
  @InstantColumn({ nullable: true }) readonly leaseEndsAt!: Date | null;
}
