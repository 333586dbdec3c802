import { Entity, PrimaryColumn } from 'typeorm';
import { GroupKeyColumn, InstantKeyColumn, MeterKeyColumn, StreamKeyColumn } from './usage-columns';

/** A value that a `unique` meter has counted in an hour or a usage window, so that it counts only once. */
@Entity('usage_distinct_value')
export class UsageDistinctValueEntity {
  @StreamKeyColumn() readonly streamId!: string;
  @MeterKeyColumn() readonly meterId!: string;
  @InstantKeyColumn() readonly startAt!: Date;
  @InstantKeyColumn() readonly endAt!: Date;
  @GroupKeyColumn() readonly groupKey!: string;
  /** First 16 bytes of the SHA-256 of the text of the value. */
  @PrimaryColumn({ type: 'uuid' }) readonly valueDigest!: string;
}
