import { Check, Column, Entity, Index, Unique, VirtualColumn } from 'typeorm';
import { fromJson, toJson } from '../../core/exact-json';
import type { DiscountShare, LineKind } from '../../core/invoice';
import type { TaxShare } from '../../core/tax';
import {
  AmountColumn,
  ExactJsonColumn,
  IdColumn,
  InstantColumn,
  ReferenceColumn,
} from '../../platform/database';
import type { SplitTrace } from './domain/shared-trace';

@Entity('invoice_line')
@Unique('invoice_line_position_unique', ['invoiceId', 'position'])
@Index('invoice_line_item_index', ['itemId', 'periodEndAt'], {
  where: '"item_id" IS NOT NULL',
})
@Index('invoice_line_credits_line_index', ['creditsLineId'], {
  where: '"credits_line_id" IS NOT NULL',
})
@Check(
  'invoice_line_kind_check',
  `"kind" IN ('recurring', 'usage', 'proration', 'one_off', 'credit', 'minimum', 'maximum')`,
)
@Check(
  'invoice_line_discount_check',
  `"discount" = 0 OR ("discount" > 0 AND "discount" <= "amount")`,
)
@Check(
  'invoice_line_proration_check',
  `("proration_numerator" IS NULL) = ("proration_denominator" IS NULL) AND "proration_numerator" >= 0 AND "proration_numerator" <= "proration_denominator"`,
)
// A line with several tax rates can have inclusive and exclusive ones.
@Check(
  'invoice_line_net_check',
  `"amount" - "discount" IN ("net", "net" + "tax") OR jsonb_array_length("tax_shares") > 1`,
)
// `credited` can be above `amount`, because a credit of a charge also credits its minimum.
@Check(
  'invoice_line_credited_check',
  `"credited" >= 0 AND "credited_net" >= 0 AND "credited_net" <= greatest("net", 0)`,
)
@Check('invoice_line_trace_check', `"trace" IS NOT NULL OR "shared_trace_id" IS NOT NULL`)
@Check('invoice_line_period_check', `"period_start_at" <= "period_end_at"`)
@Check('invoice_line_proration_unit_check', `"proration_unit" IN ('day', 'second')`)
export class InvoiceLineEntity {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'InvoiceEntity' }) readonly invoiceId!: string;
  @Column({ type: 'integer' }) readonly position!: number;
  @Column({ type: 'varchar', length: 20 }) readonly kind!: LineKind;
  @Column({ type: 'varchar', length: 500 }) readonly description!: string;
  @Column({ type: 'numeric', nullable: true }) readonly quantity!: string | null;
  @Column({ type: 'numeric', nullable: true }) readonly unitAmount!: string | null;
  @AmountColumn() readonly amount!: bigint;
  @AmountColumn() readonly discount!: bigint;
  @AmountColumn() readonly net!: bigint;
  @AmountColumn() readonly tax!: bigint;
  @ReferenceColumn({ nullable: true }) readonly priceId!: string | null;
  @ReferenceColumn({ nullable: true }) readonly itemId!: string | null;
  @InstantColumn({ nullable: true }) readonly periodStartAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly periodEndAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly fullPeriodStartAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly fullPeriodEndAt!: Date | null;
  @AmountColumn({ nullable: true }) readonly prorationNumerator!: bigint | null;
  @AmountColumn({ nullable: true }) readonly prorationDenominator!: bigint | null;
  @Column({ type: 'varchar', length: 10, nullable: true })
  readonly prorationUnit!: 'day' | 'second' | null;
  @Column({ type: 'varchar', length: 64, nullable: true }) readonly timeZone!: string | null;
  @Column({ type: 'boolean' }) readonly isInAdvance!: boolean;
  /**
   * True if the deferred revenue of the line was recognized when the line was stored, or later by the previous version
   * of this service. If this version recognizes the revenue later, it adds a row to `released_line` instead.
   */
  @Column({ type: 'boolean' }) readonly isReleased!: boolean;
  @VirtualColumn({
    type: 'boolean',
    query: (line) => `SELECT true FROM released_line WHERE line_id = ${line}.id`,
  })
  readonly isReleasedLater?: boolean | null;
  @ReferenceColumn({ to: 'InvoiceLineEntity', nullable: true }) readonly creditsLineId!:
    string | null;
  @AmountColumn() readonly credited!: bigint;
  @AmountColumn() readonly creditedNet!: bigint;
  @ExactJsonColumn() readonly creditedTaxShares!: readonly TaxShare[];
  @Column({ type: 'varchar', length: 40, array: true }) readonly taxRateIds!: readonly string[];
  @ExactJsonColumn() readonly taxShares!: readonly TaxShare[];
  @ExactJsonColumn() readonly discountShares!: readonly DiscountShare[];
  /** Steps that computed the amount, except the steps in `shared_trace`; null if all steps are in `shared_trace`. */
  @ExactJsonColumn({ nullable: true }) readonly trace!: SplitTrace['own'];
  @Column({ type: 'bigint', nullable: true }) readonly sharedTraceId!: string | null;
  @VirtualColumn({
    type: 'jsonb',
    query: (line) => `SELECT trace FROM shared_trace WHERE id = ${line}.shared_trace_id`,
    transformer: { from: fromJson, to: toJson },
  })
  readonly sharedTrace?: SplitTrace['shared'];
}
