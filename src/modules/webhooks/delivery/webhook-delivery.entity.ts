import { Check, Column, Entity, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../../platform/database';
import type { Delivery, DeliveryKind, DeliveryStatus } from './domain/delivery';

@Entity('webhook_delivery')
@Check(
  'webhook_delivery_status_check',
  `"status" IN ('pending', 'succeeded', 'failed', 'discarded')`,
)
@Check('webhook_delivery_kind_check', `"kind" IN ('event', 'retry', 'replay', 'test')`)
@Check('webhook_delivery_due_check', `("due_at" IS NOT NULL) = ("status" = 'pending')`)
@Check('webhook_delivery_attempts_check', `"attempts" BETWEEN 0 AND 10 AND "fence" >= "attempts"`)
@Index('webhook_delivery_event_unique', ['eventId', 'endpointId'], {
  unique: true,
  where: `"kind" = 'event'`,
})
@Index('webhook_delivery_event_index', ['eventId'])
@Index('webhook_delivery_endpoint_index', ['endpointId', 'id'])
@Index('webhook_delivery_any_status_index', ['status', 'id'])
@Index('webhook_delivery_type_index', ['eventType', 'id'])
@Index('webhook_delivery_created_index', ['createdAt', 'id'])
@Index('webhook_delivery_status_index', ['endpointId', 'status', 'id'])
@Index('webhook_delivery_due_index', ['endpointId', 'dueAt'], { where: `"status" = 'pending'` })
@Index('webhook_delivery_order_index', ['endpointId', 'objectId', 'sequence', 'id'], {
  where: `"status" = 'pending'`,
})
export class WebhookDeliveryEntity implements Delivery {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'WebhookEndpointEntity' }) readonly endpointId!: string;
  @ReferenceColumn({ to: 'EventEntity', onDelete: 'CASCADE' }) readonly eventId!: string;
  @Column({ type: 'varchar', length: 80 }) readonly eventType!: string;
  @ReferenceColumn() readonly objectId!: string;
  @Column({ type: 'integer' }) readonly sequence!: number;
  @Column({ type: 'varchar', length: 10 }) readonly kind!: DeliveryKind;
  @Column({ type: 'varchar', length: 10 }) readonly status!: DeliveryStatus;
  @Column({ type: 'smallint', default: 0 }) readonly attempts!: number;
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  @Column({ type: 'integer', default: 0 }) readonly fence!: number;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
