import { Column, Entity } from 'typeorm';
import { IdColumn } from '../../../platform/database';

/**
 * Names or patterns of the events that an endpoint received before a change of `events` or `is_active`. Needed for
 * events that were recorded before the change and are dispatched after it.
 */
@Entity('webhook_former_subscription')
export class WebhookFormerSubscriptionEntity {
  @IdColumn({ to: 'WebhookEndpointEntity', onDelete: 'CASCADE' }) readonly endpointId!: string;
  /** Id of the event that reports the change. The subscription applies to events with lower ids. */
  @IdColumn() readonly untilEventId!: string;
  /** Empty if the endpoint was inactive. */
  @Column({ type: 'varchar', length: 80, array: true }) readonly events!: readonly string[];
}
