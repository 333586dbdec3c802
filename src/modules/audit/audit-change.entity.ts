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
  /**
   * Next value of the sequence `audit_change_position`. Positions have gaps, because a transaction that is rolled back
   * uses up its values.
   */
  @PrimaryColumn({ type: 'bigint' }) readonly position!: string;
  /** Equals `created_at` of the audit entry of this change. */
  @PrimaryColumn({ type: 'timestamptz', precision: 3 }) readonly createdAt!: Date;
  @Column({ type: 'varchar', length: 80, collation: 'C' }) readonly action!: string;
  @ReferenceColumn() readonly objectId!: string;
  /**
   * Values of the changed fields before and after the change; null if a `pack` has them. The type is `json`, because
   * `jsonb` would change the text. A checksum (seal) is computed over the text.
   */
  @Column({ type: 'json', nullable: true }) readonly changes!: object | null;
  /**
   * A pack: the values of several changes of one commit, stored in the row of the first of these changes. Null in all
   * other rows. Packs save space, because PostgreSQL compresses only large rows.
   */
  @Column({ type: 'json', array: true, nullable: true }) readonly pack!: readonly object[] | null;
  /** Position of the row whose `pack` has the values of this change; null if `changes` has them. */
  @Column({ type: 'bigint', nullable: true }) readonly packPosition!: string | null;
  /** Place of the values in the pack, from 1; null if `changes` has them. */
  @Column({ type: 'smallint', nullable: true }) readonly packPlace!: number | null;
}
