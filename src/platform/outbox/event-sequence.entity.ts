import { Check, Column, Entity } from 'typeorm';
import { IdColumn } from '../database';

/** Sequence number of an object's newest event, kept after the event was deleted. The next event continues from it. */
@Entity('event_sequence')
@Check('event_sequence_check', '"sequence" > 0')
export class EventSequenceEntity {
  @IdColumn() readonly objectId!: string;
  @Column({ type: 'integer' }) readonly sequence!: number;
}
