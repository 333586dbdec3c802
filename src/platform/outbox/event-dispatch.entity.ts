import { Check, Column, Entity, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../database';

/**
 * An entry of the dispatcher's queue: an event for which no webhook deliveries were created yet, with the fields that
 * are needed to create them. The row is written with the event, and deleted in the commit that creates the deliveries.
 */
@Entity('event_dispatch')
@Check('event_dispatch_sequence_check', '"sequence" > 0')
// Index on an expression, which entities cannot define: the hash of the object's id.
@Index('event_dispatch_object_hash_index', { synchronize: false })
export class EventDispatchEntity {
  @IdColumn() readonly eventId!: string;
  @Column({ type: 'varchar', length: 80 }) readonly type!: string;
  @ReferenceColumn() readonly objectId!: string;
  @Column({ type: 'integer' }) readonly sequence!: number;
  @InstantColumn() readonly occurredAt!: Date;
}
