import { Check, Column, Entity, Index, Unique } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../database';

/** A domain event, written in the transaction of the change. */
@Entity('event')
@Check('event_pack_check', `("pack_id" IS NULL) = ("pack_place" IS NULL)`)
@Unique('event_object_sequence_unique', ['objectId', 'sequence'])
// Each of the next five indexes ends with an expression: the start of the id, which encodes the time. Entities cannot
// define such indexes, so they are declared here without columns.
@Index('event_type_time_index', { synchronize: false })
@Index('event_type_occurred_at_time_index', { synchronize: false })
@Index('event_occurred_at_time_index', { synchronize: false })
@Index('event_customer_time_index', { synchronize: false })
@Index('event_actor_time_index', { synchronize: false })
@Index('event_pack_index', ['packId'], { where: '"pack_id" IS NOT NULL' })
@Index('event_undispatched_index', ['id'], { where: '"dispatched_at" IS NULL' })
@Index('event_undispatched_object_index', ['objectId', 'sequence'], {
  where: `COALESCE("dispatched_at", 'infinity') = 'infinity'`,
})
export class EventEntity {
  @IdColumn() readonly id!: string;
  @Column({ type: 'varchar', length: 80 }) readonly type!: string;
  @ReferenceColumn() readonly objectId!: string;
  /** Number of the event among the events of its object, from 1. */
  @Column({ type: 'integer' }) readonly sequence!: number;
  /**
   * `{ object, previous }`. Type `json`, not `jsonb`, so that keys keep the order of the API. If `packId` is set, the
   * pack (a row of `event_pack`) has the whole value. This column then has only the customer's id, for
   * `event_customer_time_index`.
   */
  @Column({ type: 'json' }) readonly data!: object;
  /**
   * Id of the principal that caused the event, or `worker`. Null for events from releases that recorded no principal.
   */
  @ReferenceColumn({ nullable: true }) readonly actor!: string | null;
  @InstantColumn() readonly occurredAt!: Date;
  /** Used only by processes of the previous release. The next release drops this column and its two indexes. */
  @InstantColumn({ nullable: true, default: () => 'now()' }) readonly dispatchedAt!: Date | null;
  /** Row of `event_pack` that has the data. Null for an event that is stored alone. */
  @Column({ type: 'bigint', nullable: true }) readonly packId!: string | null;
  /** Position of the data in its pack (row of `event_pack`), from 1. Null for an event that is stored alone. */
  @Column({ type: 'smallint', nullable: true }) readonly packPlace!: number | null;
}
