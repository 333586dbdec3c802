import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { IdColumn, ReferenceColumn } from '../../platform/database';

/** Audit log entry: an operation that changed something. Append-only; partitioned by the month of `created_at`. */
@Entity('audit_log')
@Index('audit_log_actor_index', ['actorId', 'id'])
@Index('audit_log_operation_index', ['operation', 'id'])
export class AuditLogEntity {
  @IdColumn() readonly id!: string;
  @PrimaryColumn({ type: 'timestamptz', precision: 3 }) readonly createdAt!: Date;
  @Column({ type: 'varchar', length: 20 }) readonly actorType!: string;
  @ReferenceColumn() readonly actorId!: string;
  @Column({ type: 'varchar', length: 80, collation: 'C', nullable: true })
  readonly operation!: string | null;
  @Column({ type: 'varchar', length: 128, nullable: true }) readonly requestId!: string | null;
  @Column({ type: 'varchar', length: 64, nullable: true }) readonly address!: string | null;
}
