import { Check, Column, Entity, Index, Unique, VirtualColumn } from 'typeorm';
import { fromJson, toJson } from '../../core/exact-json';
import type { AppliedCredit } from '../../core/invoice';
import type { Metadata } from '../../core/metadata';
import type { TaxTreatment } from '../../core/tax';
import {
  AmountColumn,
  ExactJsonColumn,
  IdColumn,
  InstantColumn,
  MetadataColumn,
  ReferenceColumn,
  RowVersionColumn,
} from '../../platform/database';
import type {
  Collection,
  Invoice,
  InvoiceCoupon,
  InvoiceReason,
  InvoiceStatus,
  InvoiceTaxRate,
} from './domain/invoice';
import type { LineItemRequest } from './domain/line-item-request';
import type { InvoiceSnapshots } from './domain/invoice-snapshots';
import { OVERDUE, OWED } from './invoice-query';

/**
 * SQL condition: the invoice becomes overdue at `due_at`. It is open, not yet recorded as overdue, has no pending
 * payment, and does not wait for its first automatic charge.
 */
export const BECOMES_OVERDUE = `
  "status" = 'open' AND "overdue_at" IS NULL AND "amount_pending" = 0
  AND ("collect_at" IS NULL OR "attempt_count" > 0)`;

/**
 * SQL condition: the invoice can be charged. It is open, and pending payments do not cover its whole unpaid amount. If
 * they cover it, the invoice keeps `collect_at`, but is not charged until these payments end.
 */
export const CHARGEABLE = `"status" = 'open' AND "amount_pending" < "amount_due" - "amount_paid" - "amount_credited"`;

@Entity('invoice')
@Unique('invoice_number_unique', ['number'])
@Unique('invoice_renewal_unique', ['subscriptionId', 'renewsAt'])
@Unique('invoice_reissue_unique', ['reissueOfId'])
@Index('invoice_test_clock_index', ['testClockId'], { where: '"test_clock_id" IS NOT NULL' })
// Indexes on expressions, which entities cannot define. Each ends with the time that the id contains.
@Index('invoice_customer_time_index', { synchronize: false })
@Index('invoice_status_time_index', { synchronize: false })
@Index('invoice_reason_time_index', { synchronize: false })
@Index('invoice_collection_time_index', { synchronize: false })
@Index('invoice_currency_time_index', { synchronize: false })
@Index('invoice_created_time_index', { synchronize: false })
@Index('invoice_finalized_time_index', { synchronize: false })
@Index('invoice_due_time_index', { synchronize: false })
@Index('invoice_total_time_index', { synchronize: false })
@Index('invoice_currency_total_time_index', { synchronize: false })
@Index('invoice_owed_index', ['customerId'], { where: OWED })
@Index('invoice_currency_owed_index', ['currency', 'customerId'], { where: OWED })
@Index('invoice_open_overdue_index', ['id'], { where: OVERDUE })
@Check('invoice_status_check', `"status" IN ('draft', 'open', 'paid', 'void', 'uncollectible')`)
@Check('invoice_number_check', `("status" = 'draft') = ("number" IS NULL)`)
@Check('invoice_total_check', `"total" = "subtotal" - "discount" + "tax"`)
@Check(
  'invoice_due_check',
  `"total" = "amount_due" + "credit_applied" - "credited_to_balance" AND "amount_due" >= 0 AND "credit_applied" >= 0 AND "credited_to_balance" >= 0`,
)
@Check(
  'invoice_paid_check',
  `"amount_paid" >= 0 AND "amount_credited" >= 0 AND "amount_paid" + "amount_credited" <= "amount_due"`,
)
@Check('invoice_pending_check', `"amount_pending" >= 0`)
@Check(
  'invoice_draft_check',
  `"status" <> 'draft' OR ("amount_paid" = 0 AND "amount_credited" = 0 AND "amount_pending" = 0)`,
)
@Check(
  'invoice_settled_check',
  `"status" NOT IN ('open', 'paid') OR ("status" = 'paid') = ("amount_due" = "amount_paid" + "amount_credited")`,
)
@Check(
  'invoice_finalized_check',
  `("status" = 'draft') = ("finalized_at" IS NULL) AND ("status" = 'draft') = ("due_at" IS NULL) AND "days_until_due" >= 0`,
)
@Check(
  'invoice_closed_check',
  `("status" <> 'paid' OR "paid_at" IS NOT NULL) AND ("status" <> 'void' OR "voided_at" IS NOT NULL) AND ("status" <> 'uncollectible' OR "uncollectible_at" IS NOT NULL)`,
)
@Check('invoice_credits_check', `("credit_applied" = 0) = ("credits" = '[]')`)
@Check(
  'invoice_collect_check',
  `"attempt_count" >= 0 AND ("collect_at" IS NULL OR ("collection" = 'automatic' AND "status" <> 'draft'))`,
)
@Check(
  'invoice_finalizes_check',
  `("finalizes_at" IS NULL) = ("ordered_lines" IS NULL) AND ("finalizes_at" IS NULL OR "status" = 'draft')`,
)
@Index('invoice_finalizes_index', ['finalizesAt', 'id'], {
  where: '"finalizes_at" IS NOT NULL AND "test_clock_id" IS NULL',
})
@Index('invoice_test_clock_finalizes_index', ['testClockId', 'finalizesAt', 'id'], {
  where: '"finalizes_at" IS NOT NULL AND "test_clock_id" IS NOT NULL',
})
@Index('invoice_collect_index', ['collectAt', 'id'], {
  where: `"collect_at" IS NOT NULL AND ${CHARGEABLE} AND "test_clock_id" IS NULL`,
})
@Index('invoice_test_clock_collect_index', ['testClockId', 'collectAt', 'id'], {
  where: `"collect_at" IS NOT NULL AND ${CHARGEABLE} AND "test_clock_id" IS NOT NULL`,
})
@Index('invoice_closed_collect_index', ['collectAt', 'id'], {
  where: `"collect_at" IS NOT NULL AND "status" <> 'open' AND "test_clock_id" IS NULL`,
})
@Index('invoice_test_clock_closed_collect_index', ['testClockId', 'collectAt', 'id'], {
  where: `"collect_at" IS NOT NULL AND "status" <> 'open' AND "test_clock_id" IS NOT NULL`,
})
@Index('invoice_overdue_index', ['dueAt', 'id'], {
  where: `${BECOMES_OVERDUE} AND "test_clock_id" IS NULL`,
})
@Index('invoice_test_clock_overdue_index', ['testClockId', 'dueAt', 'id'], {
  where: `${BECOMES_OVERDUE} AND "test_clock_id" IS NOT NULL`,
})
@Check('invoice_collection_method_check', `"collection" IN ('automatic', 'send_invoice')`)
@Check(
  'invoice_reason_check',
  `"reason" IN ('one_off', 'subscription_start', 'renewal', 'change', 'end', 'late_usage')`,
)
@Check('invoice_tax_treatment_check', `"tax_treatment" IN ('none', 'exempt', 'reverse')`)
export class InvoiceEntity implements Omit<Invoice, 'lines'> {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 40, nullable: true }) readonly number!: string | null;
  @Column({ type: 'varchar', length: 20 }) readonly status!: InvoiceStatus;
  @Column({ type: 'varchar', length: 20 }) readonly reason!: InvoiceReason;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @ReferenceColumn({ to: 'TestClockEntity', nullable: true }) readonly testClockId!: string | null;
  @ReferenceColumn({ nullable: true }) readonly subscriptionId!: string | null;
  @ReferenceColumn({ to: 'InvoiceEntity', nullable: true }) readonly reissueOfId!: string | null;
  @InstantColumn({ nullable: true }) readonly renewsAt!: Date | null;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @InstantColumn({ nullable: true }) readonly periodStartAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly periodEndAt!: Date | null;
  @AmountColumn() readonly subtotal!: bigint;
  @AmountColumn() readonly discount!: bigint;
  @AmountColumn() readonly tax!: bigint;
  @AmountColumn() readonly inclusiveTax!: bigint;
  @AmountColumn() readonly total!: bigint;
  @AmountColumn() readonly creditApplied!: bigint;
  @AmountColumn() readonly creditedToBalance!: bigint;
  @AmountColumn() readonly amountDue!: bigint;
  @AmountColumn() readonly amountPaid!: bigint;
  @AmountColumn() readonly amountCredited!: bigint;
  @AmountColumn({ default: 0 }) readonly amountPending!: bigint;
  @Column({ type: 'varchar', length: 10 }) readonly taxTreatment!: TaxTreatment;
  @ExactJsonColumn() readonly taxRates!: readonly InvoiceTaxRate[];
  @ExactJsonColumn() readonly coupons!: readonly InvoiceCoupon[];
  @ExactJsonColumn() readonly credits!: readonly AppliedCredit[];
  @Column({ type: 'varchar', length: 20 }) readonly collection!: Collection;
  @Column({ type: 'integer', default: 0 }) readonly attemptCount!: number;
  @InstantColumn({ nullable: true }) readonly collectAt!: Date | null;
  @Column({ type: 'boolean', default: false }) readonly isCollectedWhileUnpaid!: boolean;
  @Column({ type: 'integer' }) readonly daysUntilDue!: number;
  @InstantColumn({ nullable: true }) readonly dueAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly overdueAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly finalizesAt!: Date | null;
  @ExactJsonColumn({ name: 'ordered_lines', nullable: true })
  readonly requestedLines!: readonly LineItemRequest[] | null;
  /** End of the time for which one process has claimed the draft to finalize it. */
  @InstantColumn({ nullable: true }) readonly leaseEndsAt?: Date | null;
  @InstantColumn({ nullable: true }) readonly finalizedAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly paidAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly voidedAt!: Date | null;
  @ReferenceColumn({ nullable: true }) readonly voidedBy!: string | null;
  @InstantColumn({ nullable: true }) readonly uncollectibleAt!: Date | null;
  /** Null for a draft, and for an invoice whose snapshots are stored in `invoice_snapshot`. */
  @ExactJsonColumn({ name: 'parties', nullable: true })
  readonly snapshots!: InvoiceSnapshots | null;
  @Column({ type: 'bigint', nullable: true }) readonly snapshotId!: string | null;
  @VirtualColumn({
    type: 'jsonb',
    query: (invoice) =>
      `SELECT snapshots FROM invoice_snapshot WHERE customer_id = ${invoice}.customer_id AND id = ${invoice}.snapshot_id`,
    transformer: { from: fromJson, to: toJson },
  })
  readonly sharedSnapshots?: InvoiceSnapshots | null;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
