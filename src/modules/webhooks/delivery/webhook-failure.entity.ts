import { Entity } from 'typeorm';
import { IdColumn, InstantColumn } from '../../../platform/database';

/** Time of an endpoint's first failure since its last success. An endpoint without such a failure has no row. */
@Entity('webhook_failure')
export class WebhookFailureEntity {
  @IdColumn({ to: 'WebhookEndpointEntity' }) readonly endpointId!: string;
  @InstantColumn() readonly since!: Date;
}
