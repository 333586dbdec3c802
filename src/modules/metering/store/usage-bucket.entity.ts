import { Check, Column, Entity } from 'typeorm';
import { InstantColumn } from '../../../platform/database';
import { GroupKeyColumn, InstantKeyColumn, MeterKeyColumn, StreamKeyColumn } from './usage-columns';

/**
 * Running totals of a meter over a UTC hour, or over a period of any length that is registered in `usage_window`.
 * Columns that the aggregation of the meter does not use stay 0 or null.
 */
@Entity('usage_bucket')
@Check('usage_bucket_check', `"start_at" < "end_at" AND "events" >= 0 AND "distinct_values" >= 0`)
export class UsageBucketEntity {
  @StreamKeyColumn() readonly streamId!: string;
  @MeterKeyColumn() readonly meterId!: string;
  @InstantKeyColumn() readonly startAt!: Date;
  @InstantKeyColumn() readonly endAt!: Date;
  @GroupKeyColumn() readonly groupKey!: string;
  @Column({ type: 'bigint' }) readonly events!: string;
  @Column({ type: 'numeric' }) readonly total!: string;
  @Column({ type: 'numeric', nullable: true }) readonly greatest!: string | null;
  @Column({ type: 'numeric', nullable: true }) readonly latest!: string | null;
  @InstantColumn({ nullable: true }) readonly latestAt!: Date | null;
  @Column({ type: 'bigint', nullable: true }) readonly latestPosition!: string | null;
  /** For a `weighted_sum`: sum over all events of the value times the milliseconds from the event to `endAt`. */
  @Column({ type: 'numeric' }) readonly heldMs!: string;
  @Column({ type: 'bigint' }) readonly distinctValues!: string;
}
