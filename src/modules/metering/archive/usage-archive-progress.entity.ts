import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../../platform/database';

/** Progress of the archive, in a single row. A worker archives only while it has locked the row. */
@Entity('usage_archive_progress')
@Check(
  'usage_archive_progress_check',
  `"id" = 1 AND ("after_at" IS NULL) = ("after_key" IS NULL) AND ("month" IS NOT NULL OR "streams" = '{}')`,
)
export class UsageArchiveProgressEntity {
  @PrimaryColumn({ type: 'smallint' }) readonly id!: number;
  /**
   * Events before this instant are archived. It is the start of the retention period when the search began. If the
   * retention period became longer during the search, it is the earlier start of the longer period.
   */
  @InstantColumn() readonly beforeAt!: Date;
  /** Month that is being archived; null while the search looks for the first one. */
  @InstantColumn({ nullable: true }) readonly month!: Date | null;
  /** Last stream that was searched for the month. The search continues with the next one. */
  @Column({ name: 'next_stream_id', type: 'bigint' }) readonly lastStreamId!: string;
  /** Earliest month after `month` in which a stream searched so far has events to archive; null if there is none. */
  @InstantColumn({ nullable: true }) readonly nextMonth!: Date | null;
  /** Streams whose month is closed and is being written. If there are several, all their events fit into one file. */
  @Column({ type: 'bigint', array: true }) readonly streams!: readonly string[];
  /** Number of the next file of the month. */
  @Column({ type: 'integer' }) readonly fileNumber!: number;
  /**
   * Timestamp of the last written event while a stream that needs several files is being written; otherwise null.
   * `afterKey` is the key of that event.
   */
  @InstantColumn({ nullable: true }) readonly afterAt!: Date | null;
  @Column({ type: 'varchar', length: 255, collation: 'C', nullable: true })
  readonly afterKey!: string | null;
  /** Time at which the search of all months before `beforeAt` ended; null while the search is running. */
  @InstantColumn({ nullable: true }) readonly endedAt!: Date | null;
  /**
   * Start of the earliest month that had unarchived events when the last search began. Equals `beforeAt` if there was
   * no such month. Null before the first search.
   */
  @InstantColumn({ nullable: true }) readonly keptFromAt!: Date | null;
}
