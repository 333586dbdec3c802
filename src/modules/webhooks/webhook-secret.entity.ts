import { Column, Entity, Index } from 'typeorm';
import { IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { WebhookSecret } from './domain/webhook-secret';

@Entity('webhook_secret')
@Index('webhook_secret_current_unique', ['endpointId'], {
  unique: true,
  where: '"expires_at" IS NULL',
})
@Index('webhook_secret_endpoint_index', ['endpointId'])
export class WebhookSecretEntity implements WebhookSecret {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'WebhookEndpointEntity' }) readonly endpointId!: string;
  @Column({ type: 'text' }) readonly sealed!: string;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn({ nullable: true }) readonly expiresAt!: Date | null;
}
