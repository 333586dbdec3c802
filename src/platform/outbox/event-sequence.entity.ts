import { Check, Column, Entity } from 'typeorm';
import { IdColumn } from '../database';

/** Last number of the events of an object whose last event was deleted by the retention. Its next event continues from it. */
@Entity('event_sequence')
@Check('event_sequence_check', '"sequence" > 0')
export class EventSequenceEntity {
  @IdColumn() readonly objectId!: string;
  @Column({ type: 'integer' }) readonly sequence!: number;
}
