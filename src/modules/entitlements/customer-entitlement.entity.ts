import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { Rational } from '../../core/decimal';
import {
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import { DecimalColumn } from './decimal-column';
import type { BalanceRow, SourceView } from './domain/customer-entitlement';
import type { Reset } from './domain/reset-window';

/**
 * Balance of one entitlement of one customer: the allowance that subscriptions give, and the usage. It is outdated if
 * its access version is not that of the customer, or its rules version is not that of the entitlement.
 */
@Entity('customer_entitlement')
@Unique('customer_entitlement_pair_unique', ['customerId', 'entitlementId'])
@Index('customer_entitlement_entitlement_id_index', ['entitlementId'])
@Index('customer_entitlement_due_index', ['dueAt', 'id'], {
  where: '"due_at" IS NOT NULL AND "test_clock_id" IS NULL',
})
@Index('customer_entitlement_test_clock_due_index', ['testClockId', 'dueAt', 'id'], {
  where: '"due_at" IS NOT NULL AND "test_clock_id" IS NOT NULL',
})
@Check(
  'customer_entitlement_check',
  `"allowance" >= 0 AND "granted" >= 0 AND "spent" >= 0 AND "covered" >= 0`,
)
@Check(
  'customer_entitlement_window_check',
  `("reset" IS NULL) = ("window_start_at" IS NULL) AND "window_start_at" < "window_end_at"`,
)
@Check(
  'customer_entitlement_reset_check',
  `"reset" IN ('period', 'day', 'week', 'month', 'year', 'never')`,
)
export class CustomerEntitlementEntity implements BalanceRow {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ to: 'FeatureEntity' }) readonly entitlementId!: string;
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  /**
   * Access version of the customer at the last recalculation. Changes of the customer's subscriptions increment the
   * version of the customer. The balance is then outdated.
   */
  @Column({ type: 'integer' }) readonly accessVersion!: number;
  /**
   * Rules version of the entitlement at the last recalculation. Changes of its add-on links increment the version of
   * the entitlement. The balance is then outdated.
   */
  @Column({ type: 'integer' }) readonly rulesVersion!: number;
  /** Time from which the balance must be recalculated. Null: valid until a subscription or an add-on link changes. */
  @InstantColumn({ nullable: true }) readonly validUntil!: Date | null;
  @Column({ name: 'is_held', type: 'boolean' }) readonly isEntitled!: boolean;
  @DecimalColumn({ nullable: true }) readonly allowance!: Rational | null;
  @DecimalColumn() readonly granted!: Rational;
  @Column({ type: 'boolean' }) readonly isOverageAllowed!: boolean;
  @Column({ type: 'varchar', length: 10, nullable: true }) readonly reset!: Reset | null;
  @InstantColumn({ nullable: true }) readonly windowStartAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly windowEndAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly coveredUntil!: Date | null;
  @DecimalColumn() readonly used!: Rational;
  @DecimalColumn({ name: 'spent' }) readonly expiredGrantUsage!: Rational;
  @DecimalColumn({ name: 'covered' }) readonly planUsage!: Rational;
  @Column({ name: 'told', type: 'jsonb' }) readonly notifiedThresholds!: readonly number[];
  @Column({ type: 'jsonb' }) readonly sources!: readonly SourceView[];
  /** Time at which background work recalculates the balance; null if it is recalculated only when it is needed. */
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  /** End of the lease of the process that recalculates the balance; null if no process has claimed it. */
  @InstantColumn({ nullable: true }) readonly leaseEndsAt!: Date | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
