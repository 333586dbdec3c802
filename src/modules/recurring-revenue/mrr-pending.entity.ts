import { Entity } from 'typeorm';
import { IdColumn } from '../../platform/database';

/**
 * Marks a subscription whose revenue is not recorded yet, because a process of a previous release created or changed
 * the subscription.
 */
@Entity('mrr_pending')
export class MrrPendingEntity {
  @IdColumn() readonly subscriptionId!: string;
}
