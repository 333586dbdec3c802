import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ReferenceColumn } from '../../platform/database';

/** A change of one object by an operation. Append-only; partitioned by the month of `created_at`. */
@Entity('audit_change')
@Check('audit_change_position_check', `"position" > 0`)
@Check(
  'audit_change_pack_check',
  `num_nulls("pack_position", "pack_place") = CASE WHEN "changes" IS NULL THEN 0 ELSE 2 END`,
)
// One column only, so that the index stores each entry id once.
@Index('audit_change_entry_index', ['entryId'])
@Index('audit_change_object_index', ['objectId'])
export class AuditChangeEntity {
  @ReferenceColumn() readonly entryId!: string;
  /** From the sequence `audit_change_position`; rolled back transactions leave gaps. */
  @PrimaryColumn({ type: 'bigint' }) readonly position!: string;
  /** Equals `created_at` of the entry. */
  @PrimaryColumn({ type: 'timestamptz', precision: 3 }) readonly createdAt!: Date;
  @Column({ type: 'varchar', length: 80, collation: 'C' }) readonly action!: string;
  @ReferenceColumn() readonly objectId!: string;
  /**
   * Type `json`, not `jsonb`, to keep the sealed text unchanged. Null for a packed change: its values are in `pack`, in
   * the row of the first change of its pack.
   */
  @Column({ type: 'json', nullable: true }) readonly changes!: object | null;
  /**
   * Values of all changes of a pack (changes of one commit). They are stored together in the row of the first change,
   * because PostgreSQL compresses only large rows. Null in all other rows.
   */
  @Column({ type: 'json', array: true, nullable: true }) readonly pack!: readonly object[] | null;
  /** Position of the change that has the pack. */
  @Column({ type: 'bigint', nullable: true }) readonly packPosition!: string | null;
  /** Place of the change in its pack, from 1. */
  @Column({ type: 'smallint', nullable: true }) readonly packPlace!: number | null;
}
