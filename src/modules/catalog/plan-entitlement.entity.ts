import { Check, Column, Entity, Index } from 'typeorm';
import { IdColumn } from '../../platform/database';
import type { EntitlementReset, PlanEntitlement } from './domain/plan';

@Entity('plan_entitlement')
@Index('plan_entitlement_entitlement_id_index', ['entitlementId'])
@Check('plan_entitlement_value_check', `"value" >= 0`)
@Check(
  'plan_entitlement_reset_check',
  `"reset" IN ('period', 'day', 'week', 'month', 'year', 'never')`,
)
export class PlanEntitlementEntity implements PlanEntitlement {
  @IdColumn({ to: 'PlanVersionEntity' }) readonly planVersionId!: string;
  @IdColumn({ to: 'FeatureEntity' }) readonly entitlementId!: string;
  /** Position in the request, from 0. */
  @Column({ type: 'integer' }) readonly position!: number;
  @Column({ type: 'numeric', nullable: true }) readonly value!: string | null;
  @Column({ type: 'boolean' }) readonly isHardLimit!: boolean;
  @Column({ type: 'varchar', length: 10 }) readonly reset!: EntitlementReset;
}
