import { Column, Entity, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../../platform/database';

/**
 * The first pending delivery about one object to an ordered endpoint. Later deliveries wait until this one has ended.
 */
@Entity('webhook_head')
@Index('webhook_head_delivery_index', ['deliveryId'])
@Index('webhook_head_due_index', ['endpointId', 'dueAt'])
export class WebhookHeadEntity {
  @IdColumn({ to: 'WebhookEndpointEntity' }) readonly endpointId!: string;
  @IdColumn() readonly objectId!: string;
  @ReferenceColumn({ to: 'WebhookDeliveryEntity', onDelete: 'CASCADE' })
  readonly deliveryId!: string;
  @Column({ type: 'integer' }) readonly sequence!: number;
  /** Copy of the delivery's `due_at`, but later while an attempt at another delivery of the object is awaited. */
  @InstantColumn() readonly dueAt!: Date;
}
