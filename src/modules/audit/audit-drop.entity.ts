import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../platform/database';

/** A month whose partitions were dropped. Append-only. */
@Entity('audit_drop')
@Check(
  'audit_drop_counts_check',
  `"entry_count" >= 0 AND "change_count" >= 0 AND "through_seal" >= 0`,
)
export class AuditDropEntity {
  /** `2026_03`. */
  @PrimaryColumn({ type: 'char', length: 7 }) readonly month!: string;
  @Column({ type: 'bigint' }) readonly entryCount!: string;
  @Column({ type: 'bigint' }) readonly changeCount!: string;
  /** Last seal without remaining changes, and the position where it ends; 0 if each seal has remaining changes. */
  @Column({ type: 'bigint' }) readonly throughSeal!: string;
  @Column({ type: 'bigint' }) readonly throughPosition!: string;
  /** SHA-256 over the hashes of dropped changes after that position. */
  @Column({ type: 'char', length: 64 }) readonly keptDigest!: string;
  @InstantColumn() readonly droppedAt!: Date;
}
