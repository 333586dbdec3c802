import { Check, Column, Entity, Index } from 'typeorm';
import {
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { ListingProvider } from '../payments';
import type {
  Phase,
  Reconciliation,
  ReconciliationFailure,
  ReconciliationStatus,
} from './reconciliation';

@Entity('reconciliation')
@Check('reconciliation_status_check', `"status" IN ('running', 'completed', 'failed')`)
@Check(
  'reconciliation_phase_check',
  `"phase" IN ('list_charges', 'list_refunds', 'compare_charges', 'compare_refunds', 'find_charges', 'find_refunds', 'clean')`,
)
@Check('reconciliation_period_check', `"from_at" < "to_at"`)
@Check('reconciliation_failure_check', `"status" <> 'failed' OR "failure_code" IS NOT NULL`)
@Check('reconciliation_due_check', `("status" = 'running') = ("due_at" IS NOT NULL)`)
@Check('reconciliation_end_check', `("status" = 'running') = ("ended_at" IS NULL)`)
@Index('reconciliation_running_unique', ['provider'], {
  unique: true,
  where: `"status" = 'running'`,
})
@Index('reconciliation_due_index', ['dueAt'], { where: '"due_at" IS NOT NULL' })
@Index('reconciliation_leased_by_index', ['leasedBy'], { where: '"leased_by" IS NOT NULL' })
export class ReconciliationEntity implements Reconciliation {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 20 }) readonly provider!: ListingProvider;
  @Column({ type: 'varchar', length: 20 }) readonly status!: ReconciliationStatus;
  @Column({ type: 'varchar', length: 40, nullable: true })
  readonly failureCode!: ReconciliationFailure | null;
  @InstantColumn() readonly fromAt!: Date;
  @InstantColumn() readonly toAt!: Date;
  @Column({ type: 'varchar', length: 20 }) readonly phase!: Phase;
  @Column({ type: 'varchar', length: 255, nullable: true }) readonly position!: string | null;
  @Column({ type: 'integer' }) readonly chargesListed!: number;
  @Column({ type: 'integer' }) readonly refundsListed!: number;
  @Column({ type: 'integer' }) readonly differencesFound!: number;
  @Column({ type: 'boolean' }) readonly isTruncated!: boolean;
  @ReferenceColumn() readonly actor!: string;
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  @Column({ type: 'integer', nullable: true }) readonly leasedBy!: number | null;
  @Column({ type: 'integer' }) readonly attempts!: number;
  @Column({ type: 'integer', default: 0 }) readonly interruptions!: number;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
  @InstantColumn({ nullable: true }) readonly endedAt!: Date | null;
}
