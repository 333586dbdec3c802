import { Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../../platform/database';

/** An endpoint that has given nothing but failures since an instant; no row for one whose last attempt succeeded. */
@Entity('webhook_failure')
export class WebhookFailureEntity {
  @ForeignKey('WebhookEndpointEntity')
  @PrimaryColumn({ type: 'varchar', length: 40, collation: 'C' })
  readonly endpointId!: string;
  @InstantColumn() readonly since!: Date;
}
