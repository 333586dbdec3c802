import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../../platform/database';

/** A charge or refund at the simulated gateway. */
@Entity('sandbox_operation')
@Check('sandbox_operation_outcome_check', `"outcome" IN ('succeeded', 'failed', 'pending')`)
@Check('sandbox_operation_failure_check', `("outcome" = 'failed') = ("failure_code" IS NOT NULL)`)
export class SandboxOperationEntity {
  @PrimaryColumn({ type: 'varchar', length: 255, collation: 'C' }) readonly key!: string;
  @Column({ type: 'varchar', length: 20 }) readonly outcome!: 'succeeded' | 'failed' | 'pending';
  @Column({ type: 'varchar', length: 100, nullable: true }) readonly failureCode!: string | null;
  @Column({ type: 'varchar', length: 255 }) readonly reference!: string;
  @InstantColumn() readonly createdAt!: Date;
}
