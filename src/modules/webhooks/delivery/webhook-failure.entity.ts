import { Entity } from 'typeorm';
import { IdColumn, InstantColumn } from '../../../platform/database';

/** Failures of an endpoint since its last success. An endpoint without such a failure has no row. */
@Entity('webhook_failure')
export class WebhookFailureEntity {
  @IdColumn({ to: 'WebhookEndpointEntity' }) readonly endpointId!: string;
  /** Time of the first failure. If no failure comes for about 50 hours, the next one restarts it (`LONGEST_GAP_MS`). */
  @InstantColumn() readonly since!: Date;
  /** Time of the last failure, updated at most once an hour. Null before the first update: `since` applies. */
  @InstantColumn({ nullable: true }) readonly lastAt!: Date | null;
}
