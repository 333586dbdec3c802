import { Entity } from 'typeorm';
import { IdColumn } from '../../platform/database';

/** Nothing reads this table. Release 0.1.0 deletes rows from it, so the next release drops it. */
@Entity('mrr_pending')
export class MrrPendingEntity {
  @IdColumn() readonly subscriptionId!: string;
}
