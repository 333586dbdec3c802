import { Check, Column, Entity, ForeignKey } from 'typeorm';
import { IdColumn, InstantColumn } from '../../../platform/database';

/** How far the backfill of a meter is. The row goes when the meter becomes active. */
@Entity('meter_backfill')
@Check(
  'meter_backfill_last_stream_check',
  `"last_stream_id" IS NULL OR "older_transactions" IS NOT NULL`,
)
export class MeterBackfillEntity {
  @IdColumn() @ForeignKey('MeterEntity') readonly meterId!: string;
  /** Transactions that may store events without seeing the meter, by their virtual ids; null until they are known. */
  @Column({ type: 'text', array: true, nullable: true })
  readonly olderTransactions!: readonly string[] | null;
  /** The last stream with events that the meter did not count; null until the older transactions have ended. */
  @Column({ type: 'bigint', nullable: true }) readonly lastStreamId!: string | null;
  @Column({ type: 'bigint' }) readonly nextStreamId!: string;
  /** The first hour of the next stream that is left to be counted; null: all of them. */
  @InstantColumn({ nullable: true }) readonly nextHour!: Date | null;
  /** Steps tried. The backfill with the fewest is next. */
  @Column({ type: 'integer' }) readonly steps!: number;
}
