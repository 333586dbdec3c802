import { Entity } from 'typeorm';
import { IdColumn } from '../../platform/database';

/**
 * A line whose revenue was released after the line was stored. Stored in a table of its own, because an update of
 * `invoice_line` would make PostgreSQL copy the whole wide row.
 */
@Entity('released_line')
export class ReleasedLineEntity {
  @IdColumn() readonly lineId!: string;
}
