import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { InstantColumn, ReferenceColumn } from '../../../platform/database';
import type { ProviderName } from '../domain/payment-provider';

/** Event of a provider, and the state of its processing. Repeated notifications of one event are stored in one row. */
@Entity('provider_event')
@Index('provider_event_due_index', ['dueAt'], { where: '"due_at" IS NOT NULL' })
@Index('provider_event_leased_by_index', ['leasedBy'], { where: '"leased_by" IS NOT NULL' })
@Index('provider_event_received_index', ['receivedAt'])
export class ProviderEventEntity {
  @PrimaryColumn({ type: 'varchar', length: 255, collation: 'C' }) readonly id!: string;
  @Column({ type: 'varchar', length: 20 }) readonly provider!: ProviderName;
  @Column({ type: 'varchar', length: 100 }) readonly type!: string;
  /** Our id of the payment, refund or setup. For a dispute, or for a refund made at the provider: the provider's id. */
  @ReferenceColumn() readonly subjectId!: string;
  /**
   * The provider's id of the object; null if the id cannot be stored, or if an earlier version of the service stored
   * the event.
   */
  @ReferenceColumn({ nullable: true }) readonly objectId!: string | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly receivedAt!: Date;
  /**
   * Time of the next attempt to apply the event. During an attempt: the end of the lease of the process that makes it.
   * Null: the event is processed.
   */
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  @Column({ type: 'integer', nullable: true }) readonly leasedBy!: number | null;
  @Column({ type: 'integer', default: 0 }) readonly attempts!: number;
}
