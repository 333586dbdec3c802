import { Check, Column, Entity, Index } from 'typeorm';
import { InstantColumn } from '../../../platform/database';
import { InstantKeyColumn, StreamKeyColumn } from '../store/usage-columns';

/** A closed UTC month of one customer and event name. Its events are archived or about to be, and cannot change. */
@Entity('usage_archive_month')
@Index('usage_archive_month_stored_index', ['writtenAt'], {
  where: '"removed_at" IS NULL AND "written_at" IS NOT NULL',
})
@Check(
  'usage_archive_month_written_check',
  `num_nulls("last_file", "events", "voided", "digest", "written_at") IN (0, 5)`,
)
@Check('usage_archive_month_removed_check', `"removed_at" IS NULL OR "written_at" IS NOT NULL`)
export class UsageArchiveMonthEntity {
  @StreamKeyColumn() readonly streamId!: string;
  @InstantKeyColumn() readonly startAt!: Date;
  @InstantColumn() readonly endAt!: Date;
  /**
   * Number of the first file with events of this month and stream. `lastFile` is the last one; null until it is
   * written.
   */
  @Column({ type: 'integer' }) readonly firstFile!: number;
  @Column({ type: 'integer', nullable: true }) readonly lastFile!: number | null;
  /** Number of events, voided ones included; null until all of them are written to files. */
  @Column({ type: 'bigint', nullable: true }) readonly events!: string | null;
  @Column({ type: 'bigint', nullable: true }) readonly voided!: string | null;
  /** SHA-256 of the idempotency keys of the events, as in `UsageProof.digest`; null until all events are written. */
  @Column({ type: 'char', length: 64, collation: 'C', nullable: true })
  readonly digest!: string | null;
  /**
   * Hours with events, as numbers counted from the start of the month, from 0. Null: any hour may have events, because
   * the month is not written yet or the previous release wrote it.
   */
  @Column({ type: 'smallint', array: true, nullable: true }) readonly hours!: number[] | null;
  /** Time at which the last file with events of the stream in this month was written; null until then. */
  @InstantColumn({ nullable: true }) readonly writtenAt!: Date | null;
  /**
   * Time at which the deletion of the archived events from the database was finished; null until then. Events of hours
   * in which a usage window begins or ends are kept.
   */
  @InstantColumn({ nullable: true }) readonly removedAt!: Date | null;
}
