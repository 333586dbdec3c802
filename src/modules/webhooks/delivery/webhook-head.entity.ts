import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { InstantColumn, ReferenceColumn } from '../../../platform/database';

/** The first pending delivery of an object to an ordered endpoint: the only one of the object that may be claimed. */
@Entity('webhook_head')
@Index('webhook_head_delivery_index', ['deliveryId'])
@Index('webhook_head_due_index', ['endpointId', 'dueAt'])
export class WebhookHeadEntity {
  @ForeignKey('WebhookEndpointEntity')
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  readonly endpointId!: string;
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' }) readonly objectId!: string;
  @ForeignKey('WebhookDeliveryEntity', { onDelete: 'CASCADE' })
  @ReferenceColumn()
  readonly deliveryId!: string;
  @Column({ type: 'integer' }) readonly sequence!: number;
  /** The due time of the delivery. */
  @InstantColumn() readonly dueAt!: Date;
}
