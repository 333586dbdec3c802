import { Check, Column, Entity, Index } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import { IdColumn, InstantColumn, MetadataColumn, RowVersionColumn } from '../../platform/database';
import type { DisabledReason, WebhookEndpoint } from './domain/webhook-endpoint';

@Entity('webhook_endpoint')
@Index('webhook_endpoint_live_index', ['id'], { where: '"deleted_at" IS NULL' })
@Check('webhook_endpoint_events_check', `cardinality("events") BETWEEN 1 AND 100`)
@Check(
  'webhook_endpoint_disabled_check',
  `"disabled_reason" IS NULL OR ("disabled_reason" IN ('gone', 'failing') AND NOT "is_active")`,
)
export class WebhookEndpointEntity implements WebhookEndpoint {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 2_048 }) readonly url!: string;
  @Column({ type: 'varchar', length: 80, array: true }) readonly events!: readonly string[];
  @Column({ type: 'varchar', length: 500, nullable: true }) readonly description!: string | null;
  @Column({ type: 'boolean', default: true }) readonly isActive!: boolean;
  @Column({ type: 'boolean', default: false }) readonly ordered!: boolean;
  @Column({ type: 'varchar', length: 10, nullable: true })
  readonly disabledReason!: DisabledReason | null;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn({ nullable: true }) readonly deletedAt!: Date | null;
  /** Pending deliveries up to this id are being discarded. Null: none. */
  @Column({ type: 'varchar', length: 30, nullable: true }) readonly discardTo!: string | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
