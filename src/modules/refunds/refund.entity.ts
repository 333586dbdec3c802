import { Check, Column, Entity, Index, Unique } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import {
  AmountColumn,
  IdColumn,
  InstantColumn,
  MetadataColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { Refund, RefundSource, RefundStatus } from './domain/refund';

@Entity('refund')
@Unique('refund_idempotency_key_unique', ['idempotencyKey', 'actor'])
@Check('refund_amount_check', `"amount" >= 1 AND "amount" <= 9007199254740991`)
@Check('refund_status_check', `"status" IN ('pending', 'succeeded', 'failed', 'canceled')`)
@Check('refund_failure_check', `("status" = 'failed') = ("failure_code" IS NOT NULL)`)
@Check('refund_due_check', `("due_at" IS NOT NULL) = ("status" = 'pending')`)
@Check('refund_source_check', `"source" IN ('api', 'provider')`)
@Check('refund_source_reference_check', `"source" = 'api' OR "provider_reference" IS NOT NULL`)
@Index('refund_credit_note_unique', ['creditNoteId'], {
  unique: true,
  where: '"credit_note_id" IS NOT NULL',
})
@Index('refund_made_elsewhere_unique', ['paymentId', 'providerReference'], {
  unique: true,
  where: `"source" = 'provider'`,
})
@Index('refund_payment_index', ['paymentId', 'id'])
@Index('refund_customer_index', ['customerId', 'id'])
@Index('refund_provider_reference_index', ['providerReference'], {
  where: '"provider_reference" IS NOT NULL',
})
@Index('refund_sent_index', { synchronize: false })
@Index('refund_status_index', ['status', 'id'])
@Index('refund_created_at_index', ['createdAt', 'id'])
@Index('refund_currency_index', ['currency', 'id'])
@Index('refund_currency_amount_index', ['currency', 'amount', 'id'])
@Index('refund_failure_code_index', ['failureCode', 'id'], { where: '"failure_code" IS NOT NULL' })
@Index('refund_due_index', ['dueAt'], { where: '"due_at" IS NOT NULL' })
@Index('refund_leased_by_index', ['leasedBy'], { where: '"leased_by" IS NOT NULL' })
export class RefundEntity implements Refund {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'PaymentEntity' }) readonly paymentId!: string;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @AmountColumn() readonly amount!: bigint;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @Column({ type: 'varchar', length: 20 }) readonly status!: RefundStatus;
  @Column({ type: 'varchar', length: 500, nullable: true }) readonly reason!: string | null;
  @Column({ type: 'varchar', length: 20, default: 'api' }) readonly source!: RefundSource;
  @ReferenceColumn({ to: 'CreditNoteEntity', nullable: true }) readonly creditNoteId!:
    string | null;
  @Column({ type: 'varchar', length: 255, collation: 'C', nullable: true })
  readonly idempotencyKey!: string | null;
  @Column({ type: 'varchar', length: 40, collation: 'C', default: 'open' }) readonly actor!: string;
  @Column({ type: 'varchar', length: 100, nullable: true }) readonly failureCode!: string | null;
  @Column({ type: 'varchar', length: 255, nullable: true })
  readonly providerReference!: string | null;
  @Column({ type: 'integer', default: 1 }) readonly providerAttempt!: number;
  @InstantColumn({ nullable: true }) readonly sentAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly absentSince!: Date | null;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  @Column({ type: 'integer', nullable: true }) readonly leasedBy!: number | null;
  @Column({ type: 'integer', default: 0 }) readonly attempts!: number;
  @Column({ type: 'integer', default: 0 }) readonly interruptions!: number;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
