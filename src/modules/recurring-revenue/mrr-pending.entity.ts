import { Entity } from 'typeorm';
import { IdColumn } from '../../platform/database';

/**
 * This release does not use the table. The table stays until the next release, because release 0.1.0 still deletes
 * rows from it.
 */
@Entity('mrr_pending')
export class MrrPendingEntity {
  @IdColumn() readonly subscriptionId!: string;
}
