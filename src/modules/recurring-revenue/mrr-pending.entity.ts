import { Entity } from 'typeorm';
import { IdColumn } from '../../platform/database';

/** A subscription whose recurring revenue a former release changed, or never recorded. */
@Entity('mrr_pending')
export class MrrPendingEntity {
  @IdColumn() readonly subscriptionId!: string;
}
