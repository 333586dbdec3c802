import { Check, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { BigIntColumn, InstantColumn } from '../../platform/database';
import type { AuditDrop } from './domain/audit-drop';

/** A month whose partitions were dropped. Append-only. */
@Entity('audit_drop')
@Check(
  'audit_drop_counts_check',
  `"entry_count" >= 0 AND "change_count" >= 0 AND "through_seal" >= 0`,
)
export class AuditDropEntity implements AuditDrop {
  /**
   * The order in which months were dropped, given by the database. A month is dropped again if a process whose clock is
   * wrong created its partitions again.
   */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  readonly number?: string;
  @Column({ type: 'char', length: 7 }) readonly month!: string;
  @BigIntColumn() readonly entryCount!: bigint;
  @BigIntColumn() readonly changeCount!: bigint;
  @BigIntColumn() readonly throughSeal!: bigint;
  @BigIntColumn() readonly throughPosition!: bigint;
  @Column({ type: 'char', length: 64 }) readonly keptDigest!: string;
  @InstantColumn() readonly droppedAt!: Date;
}
