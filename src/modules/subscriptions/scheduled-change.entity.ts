import { Check, Column, Entity, Index } from 'typeorm';
import { ExactJsonColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { ScheduledChange, ScheduledStatus, ScheduledTerms } from './domain/subscription';

@Entity('scheduled_change')
@Index('scheduled_change_subscription_index', ['subscriptionId', 'id'])
@Index('scheduled_change_pending_unique', ['subscriptionId'], {
  unique: true,
  where: `"status" = 'pending'`,
})
@Check('scheduled_change_status_check', `"status" IN ('pending', 'applied', 'undone')`)
export class ScheduledChangeEntity implements ScheduledChange {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'SubscriptionEntity' }) readonly subscriptionId!: string;
  @ExactJsonColumn() readonly terms!: ScheduledTerms;
  @InstantColumn() readonly effectiveAt!: Date;
  @Column({ type: 'varchar', length: 10 }) readonly status!: ScheduledStatus;
  @InstantColumn() readonly createdAt!: Date;
}
