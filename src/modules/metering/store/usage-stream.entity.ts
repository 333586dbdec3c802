import { Check, Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { InstantColumn, ReferenceColumn } from '../../../platform/database';

/**
 * Stream: the events of one name of one customer, in commit order. A transaction that writes to a stream, or bills it,
 * locks its row. `version` increases whenever cached stream state becomes outdated:
 * - a bill or a meter is added, or a month closes;
 * - a usage window (a period with totals of its own) opens or closes;
 * - the customer is deleted.
 */
@Entity('usage_stream')
@Unique('usage_stream_customer_event_unique', ['customerId', 'eventName'])
@Index('usage_stream_event_name_index', ['eventName', 'id'])
@Check('usage_stream_position_check', `"last_position" >= 0`)
export class UsageStreamEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  readonly id!: string;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @Column({ type: 'varchar', length: 100, collation: 'C' }) readonly eventName!: string;
  @Column({ type: 'bigint' }) readonly lastPosition!: string;
  @Column({ type: 'bigint', default: 0 }) readonly version!: string;
  /**
   * Events before this instant can be neither stored nor voided, because some are archived or about to be archived.
   * Null if no month is closed.
   */
  @InstantColumn({ nullable: true }) readonly closedBefore!: Date | null;
}
