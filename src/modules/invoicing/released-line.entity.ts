import { Entity } from 'typeorm';
import { IdColumn } from '../../platform/database';

/**
 * An invoice line whose deferred revenue was recognized after the line was stored. It has a table of its own, because
 * an update of `invoice_line` would make PostgreSQL copy the whole wide row.
 */
@Entity('released_line')
export class ReleasedLineEntity {
  @IdColumn() readonly lineId!: string;
}
