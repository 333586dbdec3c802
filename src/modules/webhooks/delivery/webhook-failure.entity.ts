import { Entity } from 'typeorm';
import { IdColumn, InstantColumn } from '../../../platform/database';

/** Failures of an endpoint since its last success. An endpoint without such a failure has no row. */
@Entity('webhook_failure')
export class WebhookFailureEntity {
  @IdColumn({ to: 'WebhookEndpointEntity' }) readonly endpointId!: string;
  /**
   * Time of the first failure. After about 50 hours without a failure (`LONGEST_GAP_MS`), the next failure counts as
   * the first.
   */
  @InstantColumn() readonly since!: Date;
  /**
   * Time of the last failure, updated at most once an hour. Null before the first update; `since` then counts as the
   * last failure.
   */
  @InstantColumn({ nullable: true }) readonly lastAt!: Date | null;
}
