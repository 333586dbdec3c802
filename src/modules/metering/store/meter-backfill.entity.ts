import { Check, Column, Entity } from 'typeorm';
import { IdColumn, InstantColumn } from '../../../platform/database';

/** Progress of counting events that were stored before their meter was created. Deleted when all are counted. */
@Entity('meter_backfill')
@Check(
  'meter_backfill_last_stream_check',
  `"last_stream_id" IS NULL OR "older_transactions" IS NOT NULL`,
)
export class MeterBackfillEntity {
  @IdColumn({ to: 'MeterEntity' }) readonly meterId!: string;
  /**
   * Virtual ids (of PostgreSQL) of running transactions that may store events without seeing the meter; null before the
   * first step of the backfill.
   */
  @Column({ type: 'text', array: true, nullable: true })
  readonly olderTransactions!: readonly string[] | null;
  /** Last stream that the backfill counts; null until the transactions in `olderTransactions` have ended. */
  @Column({ type: 'bigint', nullable: true }) readonly lastStreamId!: string | null;
  @Column({ type: 'bigint' }) readonly nextStreamId!: string;
  /** First hour of the stream `nextStreamId` that is not counted yet; null: none of its hours is counted. */
  @InstantColumn({ nullable: true }) readonly nextHour!: Date | null;
  /** Number of attempted steps. The backfill with the fewest is next. */
  @Column({ type: 'integer' }) readonly steps!: number;
}
