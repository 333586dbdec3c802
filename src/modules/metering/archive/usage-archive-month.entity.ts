import { Check, Column, Entity, Index } from 'typeorm';
import { InstantColumn } from '../../../platform/database';
import { InstantKeyColumn, StreamKeyColumn } from '../store/usage-columns';

/** A closed month of a stream: its events are archived, or about to be archived. */
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
  /** Start of the month, in UTC. */
  @InstantKeyColumn() readonly startAt!: Date;
  @InstantColumn() readonly endAt!: Date;
  /**
   * Number of the first file of the month with events of the stream. `lastFile` is the number of the last such file;
   * null until it is written.
   */
  @Column({ type: 'integer' }) readonly firstFile!: number;
  @Column({ type: 'integer', nullable: true }) readonly lastFile!: number | null;
  /** Number of events, voided ones included; null until all of them are written to files. */
  @Column({ type: 'bigint', nullable: true }) readonly events!: string | null;
  @Column({ type: 'bigint', nullable: true }) readonly voided!: string | null;
  /**
   * Digest of the keys of the events, equal to the digest in a usage proof of the whole month; null until all events
   * are written.
   */
  @Column({ type: 'char', length: 64, collation: 'C', nullable: true })
  readonly digest!: string | null;
  /**
   * Hours with events, counted from the start of the month. Null means that any hour may have events: the month is not
   * written yet, or the previous release wrote it.
   */
  @Column({ type: 'smallint', array: true, nullable: true }) readonly hours!: number[] | null;
  /** Time at which the last file with events of the stream in this month was written; null until then. */
  @InstantColumn({ nullable: true }) readonly writtenAt!: Date | null;
  /**
   * Time at which no archived event was left to delete from the database; null until then. Events of an hour within
   * which a window begins or ends stay in the database.
   */
  @InstantColumn({ nullable: true }) readonly removedAt!: Date | null;
}
