import { Entity } from 'typeorm';
import { IdColumn, InstantColumn } from '../../../platform/database';

/** Failures of an endpoint since its last success. An endpoint without such a failure has no row. */
@Entity('webhook_failure')
export class WebhookFailureEntity {
  @IdColumn({ to: 'WebhookEndpointEntity' }) readonly endpointId!: string;
  /** Time of the first failure. Starts again with a failure that comes long after the last one. */
  @InstantColumn() readonly since!: Date;
  /** Time of the last failure, up to an hour early. Null: it is `since`. */
  @InstantColumn({ nullable: true }) readonly lastAt!: Date | null;
}
