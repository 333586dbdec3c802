import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { InstantColumn } from '../../../platform/database';
import type { Properties } from '../domain/usage-event';

/** A stored event. The table is partitioned by key digest, so that keys are unique whatever the event timestamps. */
@Entity('usage_event')
@Index('usage_event_stream_index', ['streamId', 'occurredAt'])
@Check(
  'usage_event_voided_check',
  `("voided_at" IS NULL) = ("voided_position" IS NULL) AND "voided_position" > "position"`,
)
export class UsageEventEntity {
  /** First 16 bytes of the SHA-256 of the idempotency key. */
  @PrimaryColumn({ type: 'uuid' }) readonly keyDigest!: string;
  @Column({ type: 'bigint' }) readonly streamId!: string;
  @Column({ type: 'bigint' }) readonly position!: string;
  @InstantColumn() readonly occurredAt!: Date;
  @InstantColumn() readonly receivedAt!: Date;
  @InstantColumn({ nullable: true }) readonly voidedAt!: Date | null;
  @Column({ type: 'bigint', nullable: true }) readonly voidedPosition!: string | null;
  @Column({ type: 'varchar', length: 255, collation: 'C' }) readonly idempotencyKey!: string;
  @Column({ type: 'jsonb' }) readonly properties!: Properties;
}
