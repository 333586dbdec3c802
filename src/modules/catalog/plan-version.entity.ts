import { Check, Column, Entity, Unique } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { PlanInterval, PlanProration, PlanVersion } from './domain/plan';

@Entity('plan_version')
@Unique('plan_version_number_unique', ['planId', 'number'])
@Check('plan_version_number_check', `"number" >= 1`)
@Check(
  'plan_version_interval_check',
  `"interval" IN ('day', 'week', 'month', 'year') AND "interval_count" >= 1`,
)
@Check('plan_version_trial_check', `"trial_days" >= 0`)
@Check('plan_version_proration_check', `"proration" IN ('day', 'second', 'none')`)
export class PlanVersionEntity implements Omit<PlanVersion, 'prices' | 'entitlements'> {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'PlanEntity' }) readonly planId!: string;
  @Column({ type: 'integer' }) readonly number!: number;
  @Column({ type: 'varchar', length: 10 }) readonly interval!: PlanInterval;
  @Column({ type: 'integer' }) readonly intervalCount!: number;
  @Column({ type: 'integer' }) readonly trialDays!: number;
  @Column({ type: 'varchar', length: 10 }) readonly proration!: PlanProration;
  @InstantColumn() readonly createdAt!: Date;
}
