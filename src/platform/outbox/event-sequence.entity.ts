import { Check, Column, Entity } from 'typeorm';
import { IdColumn } from '../database';

/** Sequence number of the deleted last event of an object. The next event of the object continues from this number. */
@Entity('event_sequence')
@Check('event_sequence_check', '"sequence" > 0')
export class EventSequenceEntity {
  @IdColumn() readonly objectId!: string;
  @Column({ type: 'integer' }) readonly sequence!: number;
}
