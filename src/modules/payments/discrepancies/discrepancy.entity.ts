import { Check, Column, Entity, Index } from 'typeorm';
import {
  IdColumn,
  InstantColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../../platform/database';
import type {
  Discrepancy,
  DiscrepancyStatus,
  FinalStatus,
  ReportedStatus,
} from './domain/discrepancy';

/**
 * Stored discrepancies. A report that repeats an open or dismissed discrepancy adds no row. After a discrepancy was
 * applied, the same contradiction can occur again: for example, a bank returns the refund, and the refund succeeds once
 * more.
 */
@Entity('provider_discrepancy')
@Check('provider_discrepancy_status_check', `"status" IN ('open', 'applied', 'dismissed')`)
@Check(
  'provider_discrepancy_recorded_check',
  `"recorded_status" IN ('succeeded', 'failed', 'canceled')`,
)
@Check('provider_discrepancy_reported_check', `"reported_status" IN ('succeeded', 'failed')`)
@Index('provider_discrepancy_payment_index', ['paymentId'])
@Index('provider_discrepancy_status_index', ['status', 'id'])
@Index('provider_discrepancy_unapplied_unique', ['subjectId', 'recordedStatus', 'reportedStatus'], {
  unique: true,
  where: `"status" <> 'applied'`,
})
export class DiscrepancyEntity implements Discrepancy {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'PaymentEntity' }) readonly paymentId!: string;
  @ReferenceColumn({ nullable: true }) readonly refundId!: string | null;
  /** Id of the refund, or of the payment if the report is about the payment itself. */
  @ReferenceColumn() readonly subjectId!: string;
  @Column({ type: 'varchar', length: 20 }) readonly recordedStatus!: FinalStatus;
  @Column({ type: 'varchar', length: 20 }) readonly reportedStatus!: ReportedStatus;
  @Column({ type: 'varchar', length: 255, nullable: true }) readonly providerReference!:
    string | null;
  @Column({ type: 'varchar', length: 100, nullable: true }) readonly failureCode!: string | null;
  @Column({ type: 'varchar', length: 20 }) readonly status!: DiscrepancyStatus;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
