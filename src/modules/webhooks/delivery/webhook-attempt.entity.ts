import { Column, Entity, PrimaryColumn } from 'typeorm';
import { IdColumn } from '../../../platform/database';
import type { Attempt } from './domain/delivery';

/** Attempt at a delivery. The table is partitioned by the month of `started_at`. */
@Entity('webhook_attempt')
export class WebhookAttemptEntity implements Attempt {
  @IdColumn({ to: 'WebhookDeliveryEntity', onDelete: 'CASCADE' }) readonly deliveryId!: string;
  @PrimaryColumn({ type: 'smallint' }) readonly number!: number;
  @PrimaryColumn({ type: 'timestamptz', precision: 3 }) readonly startedAt!: Date;
  @Column({ type: 'integer' }) readonly durationMs!: number;
  @Column({ type: 'smallint', nullable: true }) readonly statusCode!: number | null;
  @Column({ type: 'varchar', length: 300, nullable: true }) readonly error!: string | null;
  @Column({ type: 'text', nullable: true }) readonly responseStart!: string | null;
}
