import { Check, Column, Entity } from 'typeorm';
import { IdColumn, InstantColumn } from '../../../platform/database';

/** Progress of the backfill of a meter. Deleted when the meter becomes active. */
@Entity('meter_backfill')
@Check(
  'meter_backfill_last_stream_check',
  `"last_stream_id" IS NULL OR "older_transactions" IS NOT NULL`,
)
export class MeterBackfillEntity {
  @IdColumn({ to: 'MeterEntity' }) readonly meterId!: string;
  /**
   * Virtual ids (of PostgreSQL) of the transactions that are storing events and may not see the meter; null until the
   * first step of the backfill reads them.
   */
  @Column({ type: 'text', array: true, nullable: true })
  readonly olderTransactions!: readonly string[] | null;
  /** Last stream that the backfill counts; null until the older transactions have ended. */
  @Column({ type: 'bigint', nullable: true }) readonly lastStreamId!: string | null;
  @Column({ type: 'bigint' }) readonly nextStreamId!: string;
  /** First hour of the stream `nextStreamId` that is not counted yet; null if none of its hours is counted. */
  @InstantColumn({ nullable: true }) readonly nextHour!: Date | null;
  /** Number of attempted steps. The backfill with the fewest steps is next. */
  @Column({ type: 'integer' }) readonly steps!: number;
}
