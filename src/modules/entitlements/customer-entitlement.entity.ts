import { Check, Column, Entity, ForeignKey, Index, Unique } from 'typeorm';
import type { Rational } from '../../core/decimal';
import {
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import { DecimalColumn } from './decimal-column';
import type { HoldingRow, SourceView } from './domain/customer-entitlement';
import type { Reset } from './domain/reset-window';

/** What a customer has of one entitlement, resolved, and what it used of it: an answer is this row. */
@Entity('customer_entitlement')
@Unique('customer_entitlement_pair_unique', ['customerId', 'entitlementId'])
@Index('customer_entitlement_entitlement_id_index', ['entitlementId'])
@Index('customer_entitlement_due_index', ['dueAt'], {
  where: '"due_at" IS NOT NULL AND "test_clock_id" IS NULL',
})
@Index('customer_entitlement_test_clock_due_index', ['testClockId', 'dueAt'], {
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
export class CustomerEntitlementEntity implements HoldingRow {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn()
  @ForeignKey('CustomerEntity')
  readonly customerId!: string;
  @ReferenceColumn()
  @ForeignKey('EntitlementEntity')
  readonly entitlementId!: string;
  @ReferenceColumn({ nullable: true }) readonly testClockId!: string | null;
  /** Of `customer_access`, when it was resolved. */
  @Column({ type: 'integer' }) readonly accessVersion!: number;
  /** Of the entitlement, when it was resolved. */
  @Column({ type: 'integer' }) readonly rulesVersion!: number;
  /** What was resolved holds until then; null: until something changes. */
  @InstantColumn({ nullable: true }) readonly validUntil!: Date | null;
  @Column({ type: 'boolean' }) readonly isHeld!: boolean;
  /** What subscriptions allow; null: without a limit. */
  @DecimalColumn({ nullable: true }) readonly allowance!: Rational | null;
  @DecimalColumn() readonly granted!: Rational;
  @Column({ type: 'boolean' }) readonly isOverageAllowed!: boolean;
  @Column({ type: 'varchar', length: 10, nullable: true }) readonly reset!: Reset | null;
  @InstantColumn({ nullable: true }) readonly windowStartAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly windowEndAt!: Date | null;
  @DecimalColumn() readonly used!: Rational;
  /** The part of it that grants covered which count no more. */
  @DecimalColumn() readonly spent!: Rational;
  /** The part of it that subscriptions covered when it was used. */
  @DecimalColumn() readonly covered!: Rational;
  /** The thresholds told of in this window, in percent. */
  @Column({ type: 'jsonb' }) readonly told!: readonly number[];
  @Column({ type: 'jsonb' }) readonly sources!: readonly SourceView[];
  /** When it is to be settled ahead of the next event, as the next window is opened; null: with the next question. */
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  /** Who does what is due has it until then. */
  @InstantColumn({ nullable: true }) readonly leaseEndsAt!: Date | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
