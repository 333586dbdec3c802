import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { InstantColumn, ReferenceColumn } from '../database';

/** A key a client sent with a POST, what it was sent for, and the answer once there is one. */
@Entity('idempotency_key')
@Check(
  'idempotency_key_answer_check',
  `("answer_status" IS NULL) = ("answer_body" IS NULL) AND ("answer_status" IS NULL) = ("answer_headers" IS NULL)`,
)
@Index('idempotency_key_expires_at_index', ['expiresAt'])
@Index('idempotency_key_resource_index', ['resourceId'], { where: '"resource_id" IS NOT NULL' })
export class IdempotencyKeyEntity {
  @PrimaryColumn({ type: 'varchar', length: 255, collation: 'C' }) readonly key!: string;
  /** SHA-256 of method, path and body, in hex. */
  @Column({ type: 'char', length: 64 }) readonly fingerprint!: string;
  /** Where a gateway stands between claim and answer: the row the answer will tell of. */
  @ReferenceColumn({ nullable: true }) readonly resourceId!: string | null;
  @Column({ type: 'smallint', nullable: true }) readonly answerStatus!: number | null;
  @Column({ type: 'json', nullable: true }) readonly answerHeaders!: Record<string, string> | null;
  @Column({ type: 'text', nullable: true }) readonly answerBody!: string | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly expiresAt!: Date;
}
