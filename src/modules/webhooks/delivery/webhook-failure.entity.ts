import { Entity } from 'typeorm';
import { IdColumn, InstantColumn } from '../../../platform/database';

/** Time of an endpoint's first failure since its last success. No row when its last attempt succeeded. */
@Entity('webhook_failure')
export class WebhookFailureEntity {
  @IdColumn({ to: 'WebhookEndpointEntity' }) readonly endpointId!: string;
  @InstantColumn() readonly since!: Date;
}
