import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../../platform/database';

/** Time of an endpoint's first failure since its last success. No row when its last attempt succeeded. */
@Entity('webhook_failure')
export class WebhookFailureEntity {
  @ForeignKey('WebhookEndpointEntity')
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  readonly endpointId!: string;
  @InstantColumn() readonly since!: Date;
}
