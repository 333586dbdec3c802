import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { EntitlementReset, PlanEntitlement } from './domain/plan';

@Entity('plan_entitlement')
@Index('plan_entitlement_entitlement_id_index', ['entitlementId'])
@Check('plan_entitlement_value_check', `"value" >= 0`)
@Check(
  'plan_entitlement_reset_check',
  `"reset" IN ('period', 'day', 'week', 'month', 'year', 'never')`,
)
export class PlanEntitlementEntity implements PlanEntitlement {
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  @ForeignKey('PlanVersionEntity')
  readonly planVersionId!: string;
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  @ForeignKey('FeatureEntity')
  readonly entitlementId!: string;
  /** Position in the request, from 0. */
  @Column({ type: 'integer' }) readonly position!: number;
  @Column({ type: 'numeric', nullable: true }) readonly value!: string | null;
  @Column({ type: 'boolean' }) readonly isHardLimit!: boolean;
  @Column({ type: 'varchar', length: 10 }) readonly reset!: EntitlementReset;
}
