import { Check, Column, Entity, Index } from 'typeorm';
import { AmountColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { MovementKind, MovementState } from '../payments';
import type { Difference, DifferenceType } from './difference';

/**
 * A difference between the books and the list of a provider. Has no foreign keys to payments and refunds, because their
 * ids may come from the provider and be unknown here.
 */
@Entity('reconciliation_difference')
@Check(
  'reconciliation_difference_type_check',
  `"type" IN ('missing_here', 'missing_at_provider', 'charged_twice', 'status', 'currency', 'amount')`,
)
@Check('reconciliation_difference_object_check', `"object" IN ('charge', 'refund')`)
@Index('reconciliation_difference_run_index', ['reconciliationId', 'id'])
export class ReconciliationDifferenceEntity implements Difference {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'ReconciliationEntity' }) readonly reconciliationId!: string;
  @Column({ type: 'varchar', length: 20 }) readonly type!: DifferenceType;
  @Column({ type: 'varchar', length: 10 }) readonly object!: MovementKind;
  @ReferenceColumn({ nullable: true }) readonly paymentId!: string | null;
  @ReferenceColumn({ nullable: true }) readonly refundId!: string | null;
  @Column({ type: 'varchar', length: 255, nullable: true })
  readonly providerReference!: string | null;
  @AmountColumn({ nullable: true }) readonly bookedAmount!: bigint | null;
  @Column({ type: 'char', length: 3, nullable: true }) readonly bookedCurrency!: string | null;
  @Column({ type: 'varchar', length: 10, nullable: true })
  readonly bookedStatus!: MovementState | null;
  @AmountColumn({ nullable: true }) readonly providerAmount!: bigint | null;
  @Column({ type: 'char', length: 3, nullable: true }) readonly providerCurrency!: string | null;
  @Column({ type: 'varchar', length: 10, nullable: true })
  readonly providerStatus!: MovementState | null;
  @InstantColumn() readonly createdAt!: Date;
}
