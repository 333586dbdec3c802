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
import type { Payment, PaymentStatus } from './domain/payment';
import type { ProviderName } from './domain/payment-provider';

@Entity('payment')
@Check(
  'payment_status_check',
  `"status" IN ('pending', 'processing', 'requires_action', 'succeeded', 'failed', 'canceled')`,
)
@Check('payment_amount_check', `"amount" >= 1 AND "amount" <= 9007199254740991`)
@Check(
  'payment_refunds_check',
  `"amount_refunded" >= 0 AND "amount_refund_pending" >= 0 AND "amount_refunded" + "amount_refund_pending" <= "amount"`,
)
@Check(
  'payment_refunded_status_check',
  `"status" = 'succeeded' OR "amount_refunded" + "amount_refund_pending" = 0`,
)
@Check('payment_lost_check', `"amount_lost" >= 0`)
@Check('payment_failure_check', `("status" = 'failed') = ("failure_code" IS NOT NULL)`)
@Check(
  'payment_due_check',
  `("due_at" IS NULL) = ("status" IN ('succeeded', 'failed', 'canceled'))`,
)
@Check(
  'payment_applied_check',
  `"amount_applied" = 0 OR ("amount_applied" > 0 AND "amount_applied" <= "amount" AND "status" = 'succeeded' AND "invoice_id" IS NOT NULL)`,
)
@Unique('payment_collection_attempt_unique', ['invoiceId', 'collectionAttempt'])
@Check(
  'payment_collection_attempt_check',
  `"collection_attempt" IS NULL OR ("collection_attempt" >= 1 AND "invoice_id" IS NOT NULL)`,
)
@Index('payment_invoice_index', ['invoiceId', 'id'], { where: '"invoice_id" IS NOT NULL' })
@Index('payment_customer_index', ['customerId', 'id'])
@Index('payment_provider_reference_index', ['providerReference'], {
  where: '"provider_reference" IS NOT NULL',
})
@Index('payment_sent_index', ['provider', 'sentAt', 'id'], { where: `"status" = 'succeeded'` })
@Index('payment_status_index', ['status', 'id'])
@Index('payment_created_index', ['createdAt', 'id'])
@Index('payment_currency_index', ['currency', 'id'])
@Index('payment_currency_amount_index', ['currency', 'amount', 'id'])
@Index('payment_failure_code_index', ['failureCode', 'id'], {
  where: '"failure_code" IS NOT NULL',
})
@Index('payment_due_index', ['dueAt'], { where: '"due_at" IS NOT NULL' })
@Index('payment_leased_by_index', ['leasedBy'], { where: '"leased_by" IS NOT NULL' })
export class PaymentEntity implements Payment {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ to: 'InvoiceEntity', nullable: true }) readonly invoiceId!: string | null;
  @Column({ type: 'integer', nullable: true }) readonly collectionAttempt!: number | null;
  @AmountColumn() readonly amount!: bigint;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @Column({ type: 'varchar', length: 20 }) readonly status!: PaymentStatus;
  @AmountColumn({ default: 0 }) readonly amountApplied!: bigint;
  @AmountColumn({ default: 0 }) readonly amountRefunded!: bigint;
  @AmountColumn({ default: 0 }) readonly amountRefundPending!: bigint;
  @AmountColumn({ default: 0 }) readonly amountLost!: bigint;
  @Column({ type: 'boolean', default: false }) readonly isDisputed!: boolean;
  @Column({ type: 'varchar', length: 20 }) readonly provider!: ProviderName;
  @Column({ type: 'varchar', length: 255, nullable: true }) readonly paymentMethodId!:
    string | null;
  @Column({ type: 'varchar', length: 255, nullable: true }) readonly providerToken!: string | null;
  @Column({ type: 'varchar', length: 255, nullable: true }) readonly providerReference!:
    string | null;
  @Column({ type: 'integer', default: 1 }) readonly providerAttempt!: number;
  @InstantColumn({ nullable: true }) readonly sentAt!: Date | null;
  @Column({ type: 'varchar', length: 100, nullable: true }) readonly failureCode!: string | null;
  @ReferenceColumn({ nullable: true }) readonly actor!: string | null;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  @Column({ type: 'integer', nullable: true }) readonly leasedBy!: number | null;
  @Column({ type: 'integer', default: 0 }) readonly attempts!: number;
  @Column({ type: 'integer', default: 0 }) readonly interruptions!: number;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
