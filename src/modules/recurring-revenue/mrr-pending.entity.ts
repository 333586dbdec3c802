import { Entity } from 'typeorm';
import { IdColumn } from '../../platform/database';

/** A subscription whose recurring revenue was changed, or not recorded, by a former release. */
@Entity('mrr_pending')
export class MrrPendingEntity {
  @IdColumn() readonly subscriptionId!: string;
}
