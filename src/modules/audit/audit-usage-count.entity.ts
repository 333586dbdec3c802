import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { BigIntColumn, IdColumn } from '../../platform/database';
import type { UsageCount } from './domain/audit-entry';

/** Number of accepted requests of one caller in one hour, for an operation that is too frequent for audit entries. */
@Entity('audit_usage_count')
@Index('audit_usage_count_hour_index', ['hour'])
export class AuditUsageCountEntity implements UsageCount {
  @IdColumn() readonly actorId!: string;
  @PrimaryColumn({ type: 'varchar', length: 80, collation: 'C' }) readonly operation!: string;
  @PrimaryColumn({ type: 'timestamptz', precision: 3 }) readonly hour!: Date;
  @Column({ type: 'varchar', length: 20 }) readonly actorType!: string;
  @BigIntColumn() readonly requestCount!: bigint;
}
