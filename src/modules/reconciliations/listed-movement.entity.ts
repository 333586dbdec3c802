import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { AmountColumn, IdColumn } from '../../platform/database';
import type { MovementKind, MovementState, ProviderMovement } from '../payments';

/** A charge or refund in the list of a provider, stored until the reconciliation ends. */
@Entity('reconciliation_listed_movement')
@Check('reconciliation_listed_movement_kind_check', `"kind" IN ('charge', 'refund')`)
@Check('reconciliation_listed_movement_state_check', `"state" IN ('succeeded', 'open', 'ended')`)
export class ListedMovementEntity implements ProviderMovement {
  @IdColumn({ to: 'ReconciliationEntity' }) readonly reconciliationId!: string;
  @PrimaryColumn({ type: 'varchar', length: 10 }) readonly kind!: MovementKind;
  @PrimaryColumn({ type: 'varchar', length: 255, collation: 'C' }) readonly reference!: string;
  /** Our id of the payment or refund, from the provider's metadata. The payment or refund may be unknown here. */
  @Column({ type: 'varchar', length: 500, nullable: true }) readonly subjectId!: string | null;
  @Column({ type: 'varchar', length: 255, nullable: true })
  readonly chargeReference!: string | null;
  @AmountColumn() readonly amount!: bigint;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @Column({ type: 'varchar', length: 10 }) readonly state!: MovementState;
}
