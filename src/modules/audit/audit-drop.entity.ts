import { Check, Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { BigIntColumn, InstantColumn } from '../../platform/database';
import type { AuditDrop } from './domain/audit-drop';

/** Record that the partitions of a month were dropped. Append-only. */
@Entity('audit_drop')
@Check(
  'audit_drop_counts_check',
  `"entry_count" >= 0 AND "change_count" >= 0 AND "through_seal" >= 0`,
)
export class AuditDropEntity implements AuditDrop {
  /**
   * Ascending number of the drop, given by the database. The month cannot be the key, because a month may be dropped
   * twice. A process whose clock is wrong may create the partitions of a dropped month again.
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
