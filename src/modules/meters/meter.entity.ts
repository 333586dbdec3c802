import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import type { Aggregation } from '../../core/usage';
import {
  CountColumn,
  IdColumn,
  InstantColumn,
  MetadataColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { LateEvents, Meter, MeterFilter, MeterStatus } from './domain/meter';

@Entity('meter')
@Unique('meter_key_unique', ['key'])
@Index('meter_event_name_index', ['eventName'])
@Check(
  'meter_aggregation_check',
  `"aggregation" IN ('count', 'sum', 'max', 'unique', 'latest', 'weighted_sum')`,
)
@Check('meter_value_property_check', `("aggregation" = 'count') = ("value_property" IS NULL)`)
@Check('meter_late_events_check', `"late_events" IN ('next_invoice', 'reject')`)
@Check('meter_status_check', `"status" IN ('backfilling', 'active')`)
@Check('meter_recurring_check', `NOT "is_recurring" OR "aggregation" = 'weighted_sum'`)
export class MeterEntity implements Meter {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 64 }) readonly key!: string;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @Column({ type: 'varchar', length: 100, collation: 'C' }) readonly eventName!: string;
  @Column({ type: 'varchar', length: 20 }) readonly aggregation!: Aggregation;
  @Column({ type: 'varchar', length: 100, nullable: true }) readonly valueProperty!: string | null;
  @Column({ type: 'jsonb' }) readonly filters!: readonly MeterFilter[];
  @Column({ type: 'jsonb' }) readonly groupBy!: readonly string[];
  @Column({ type: 'varchar', length: 20 }) readonly lateEvents!: LateEvents;
  @Column({ type: 'boolean' }) readonly isRecurring!: boolean;
  @Column({ type: 'varchar', length: 20, default: 'active' }) readonly status!: MeterStatus;
  @CountColumn({ default: 0 })
  readonly backfillCounted!: number;
  @CountColumn({ default: 0 })
  readonly backfillTotal!: number;
  @InstantColumn({ nullable: true }) readonly countedFromAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly archivedAt!: Date | null;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
