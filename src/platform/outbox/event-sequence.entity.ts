import { Check, Column, Entity } from 'typeorm';
import { IdColumn } from '../database';

/**
 * Sequence number of the last event of an object, stored when this event is deleted. The next event of the object
 * continues from this number.
 */
@Entity('event_sequence')
@Check('event_sequence_check', '"sequence" > 0')
export class EventSequenceEntity {
  @IdColumn() readonly objectId!: string;
  @Column({ type: 'integer' }) readonly sequence!: number;
}
