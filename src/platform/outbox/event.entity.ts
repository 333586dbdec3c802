import { Column, Entity, Index, Unique } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../database';

/** A fact, written in the commit that made it true. */
@Entity('event')
@Unique('event_object_sequence_unique', ['objectId', 'sequence'])
@Index('event_type_index', ['type', 'id'])
@Index('event_occurred_at_index', ['occurredAt', 'id'])
@Index('event_undispatched_index', ['id'], { where: '"dispatched_at" IS NULL' })
export class EventEntity {
  @IdColumn() readonly id!: string;
  @Column({ type: 'varchar', length: 80 }) readonly type!: string;
  @ReferenceColumn() readonly objectId!: string;
  /** 1 for the first event of an object, one more for each further one. */
  @Column({ type: 'integer' }) readonly sequence!: number;
  /** `{ object, previous }`. Kept as text (`json`), so that keys come out in the order the API writes them. */
  @Column({ type: 'json' }) readonly data!: object;
  @InstantColumn() readonly occurredAt!: Date;
  /** When deliveries were made for it; null until then. */
  @InstantColumn({ nullable: true }) readonly dispatchedAt!: Date | null;
}
