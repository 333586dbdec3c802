import { Check, Column, Entity, Exclusion, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { SubscriptionPeriod } from './domain/subscription';

@Entity('subscription_period')
@Index('subscription_period_subscription_index', ['subscriptionId', 'startAt', 'endAt'])
@Exclusion(
  'subscription_period_overlap',
  `USING gist ("subscription_id" WITH =, tstzrange("start_at", "end_at") WITH &&)`,
)
@Check(
  'subscription_period_span_check',
  `"start_at" <= "end_at" AND "full_start_at" <= "start_at" AND "end_at" <= "full_end_at"`,
)
export class SubscriptionPeriodEntity implements SubscriptionPeriod {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'SubscriptionEntity' }) readonly subscriptionId!: string;
  @Column({ type: 'integer' }) readonly index!: number;
  @InstantColumn() readonly startAt!: Date;
  @InstantColumn() readonly endAt!: Date;
  @InstantColumn() readonly fullStartAt!: Date;
  @InstantColumn() readonly fullEndAt!: Date;
  @Column({ type: 'boolean' }) readonly isTrial!: boolean;
  /** Stays false at an ordinary renewal, which adds the next period and leaves this row unchanged. */
  @Column({ type: 'boolean' }) readonly isClosed!: boolean;
}
