import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { InstantColumn, ReferenceColumn } from '../database';

/** An idempotency key of a POST, the fingerprint of the request and, once it is answered, the answer. */
@Entity('idempotency_key')
@Check(
  'idempotency_key_answer_check',
  `("answer_status" IS NULL) = ("answer_body" IS NULL) AND ("answer_status" IS NULL) = ("answer_headers" IS NULL)`,
)
@Index('idempotency_key_expires_at_index', ['expiresAt'])
@Index('idempotency_key_resource_index', ['resourceId'], { where: '"resource_id" IS NOT NULL' })
export class IdempotencyKeyEntity {
  /** Id of the principal, a line break, and the key as the client sent it. With `AUTH=open`, the key alone. */
  @PrimaryColumn({ type: 'varchar', length: 300, collation: 'C' }) readonly key!: string;
  /** SHA-256 of method, path, query and body, in hex. */
  @Column({ type: 'char', length: 64 }) readonly fingerprint!: string;
  /** Resource that the request creates or changes. Null if the key is claimed and answered in the same transaction. */
  @ReferenceColumn({ nullable: true }) readonly resourceId!: string | null;
  /** Unused, like `leasedBy`. Both columns stay until the next release, because release 0.1.0 writes them. */
  @InstantColumn({ nullable: true }) readonly leaseEndsAt!: Date | null;
  @Column({ type: 'integer', nullable: true }) readonly leasedBy!: number | null;
  @Column({ type: 'smallint', nullable: true }) readonly answerStatus!: number | null;
  @Column({ type: 'json', nullable: true }) readonly answerHeaders!: Record<string, string> | null;
  @Column({ type: 'text', nullable: true }) readonly answerBody!: string | null;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly expiresAt!: Date;
}
