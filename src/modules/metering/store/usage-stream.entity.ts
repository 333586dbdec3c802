import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { ReferenceColumn } from '../../../platform/database';

/**
 * The events of one customer under one name, in an order. Whoever writes to it, or bills it, holds its row. It has another
 * `version` whenever an event may meet something new there: a bill, a registered window, a meter, the end of the customer.
 */
@Entity('usage_stream')
@Unique('usage_stream_customer_event_unique', ['customerId', 'eventName'])
@Index('usage_stream_event_name_index', ['eventName', 'id'])
@Check('usage_stream_position_check', `"last_position" >= 0`)
export class UsageStreamEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  readonly id!: string;
  @ReferenceColumn() @ForeignKey('CustomerEntity') readonly customerId!: string;
  @Column({ type: 'varchar', length: 100, collation: 'C' }) readonly eventName!: string;
  @Column({ type: 'bigint' }) readonly lastPosition!: string;
  @Column({ type: 'bigint', default: 0 }) readonly version!: string;
}
