import { Entity } from 'typeorm';
import { IdColumn } from '../../platform/database';

/** A line whose revenue was released after it was stored: an update of the line would store the whole line again. */
@Entity('released_line')
export class ReleasedLineEntity {
  @IdColumn() readonly lineId!: string;
}
