import { Entity } from 'typeorm';
import { IdColumn } from '../../platform/database';

/** A line whose revenue was released after the line was stored. It has its own table, because an update copies the whole line. */
@Entity('released_line')
export class ReleasedLineEntity {
  @IdColumn() readonly lineId!: string;
}
