import { Check, Column, Entity, Index } from 'typeorm';
import { AmountColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { PriceModel, PriceTerms, PriceTier, PriceTiming } from './domain/price';

interface TierRow {
  readonly up_to: string | null;
  readonly unit_amount: string;
  /** Minor units as text, because a JSON number is not exact above 2^53. */
  readonly flat_amount: string;
}

const tiersTransformer = {
  from: (rows: readonly TierRow[] | null): readonly PriceTier[] | null =>
    rows?.map((row) => ({
      upTo: row.up_to,
      unitAmount: row.unit_amount,
      flatAmount: BigInt(row.flat_amount),
    })) ?? null,
  to: (tiers: readonly PriceTier[] | null): readonly TierRow[] | null =>
    tiers?.map((tier) => ({
      up_to: tier.upTo,
      unit_amount: tier.unitAmount,
      flat_amount: tier.flatAmount.toString(),
    })) ?? null,
};

@Entity('price')
@Index('price_meter_id_index', ['meterId'], { where: '"meter_id" IS NOT NULL' })
@Index('price_addon_id_index', ['addonId', 'id'])
@Index('price_plan_version_id_index', ['planVersionId', 'id'])
@Check('price_owner_check', `num_nonnulls("addon_id", "plan_version_id") = 1`)
@Check(
  'price_model_check',
  `"model" IN ('flat', 'per_unit', 'graduated', 'volume', 'package', 'percentage')`,
)
@Check('price_flat_check', `("model" = 'flat') = ("amount" IS NOT NULL) AND "amount" >= 0`)
@Check(
  'price_unit_amount_check',
  `("model" IN ('per_unit', 'package')) = ("unit_amount" IS NOT NULL) AND "unit_amount" >= 0`,
)
@Check(
  'price_tiers_check',
  `("model" IN ('graduated', 'volume')) = ("tiers" IS NOT NULL) AND ("model" IN ('graduated', 'volume')) = ("charge_flat_at_zero" IS NOT NULL) AND jsonb_array_length("tiers") > 0`,
)
@Check(
  'price_package_check',
  `("model" = 'package') = ("package_size" IS NOT NULL) AND "package_size" > 0`,
)
@Check(
  'price_percentage_check',
  `("model" = 'percentage') = ("rate" IS NOT NULL) AND ("model" = 'percentage') = ("fixed_amount" IS NOT NULL) AND "rate" BETWEEN 0 AND 1 AND "fixed_amount" >= 0`,
)
@Check(
  'price_free_units_check',
  `("model" IN ('package', 'percentage')) = ("free_units" IS NOT NULL) AND "free_units" >= 0`,
)
@Check(
  'price_event_limits_check',
  `("model" = 'percentage') = ("free_amount" IS NOT NULL) AND "free_amount" >= 0 AND ("model" = 'percentage' OR num_nonnulls("event_minimum_amount", "event_maximum_amount") = 0) AND "event_minimum_amount" >= 0 AND "event_maximum_amount" >= 0 AND "event_minimum_amount" <= "event_maximum_amount"`,
)
@Check('price_by_group_check', `NOT "is_by_group" OR "meter_id" IS NOT NULL`)
@Check(
  'price_timing_check',
  `"timing" = 'in_arrears' OR "timing" = 'in_advance' AND "meter_id" IS NULL`,
)
@Check(
  'price_limits_check',
  `"minimum_amount" >= 0 AND "maximum_amount" >= 0 AND "minimum_amount" <= "maximum_amount"`,
)
export class PriceEntity implements PriceTerms {
  @IdColumn() readonly id!: string;
  /** A price belongs to exactly one owner: an add-on or a plan version. */
  @ReferenceColumn({ to: 'AddonEntity', nullable: true }) readonly addonId!: string | null;
  @ReferenceColumn({ to: 'PlanVersionEntity', nullable: true }) readonly planVersionId!:
    string | null;
  @Column({ type: 'varchar', length: 200 }) readonly name!: string;
  @Column({ type: 'varchar', length: 20 }) readonly model!: PriceModel;
  @Column({ type: 'varchar', length: 20 }) readonly timing!: PriceTiming;
  @AmountColumn({ nullable: true }) readonly amount!: bigint | null;
  @Column({ type: 'numeric', nullable: true }) readonly unitAmount!: string | null;
  @Column({ type: 'jsonb', nullable: true, transformer: tiersTransformer })
  readonly tiers!: readonly PriceTier[] | null;
  @Column({ type: 'numeric', nullable: true }) readonly packageSize!: string | null;
  @Column({ type: 'numeric', nullable: true }) readonly freeUnits!: string | null;
  @Column({ type: 'numeric', nullable: true }) readonly rate!: string | null;
  @AmountColumn({ nullable: true }) readonly fixedAmount!: bigint | null;
  @AmountColumn({ nullable: true }) readonly freeAmount!: bigint | null;
  @AmountColumn({ nullable: true }) readonly eventMinimumAmount!: bigint | null;
  @AmountColumn({ nullable: true }) readonly eventMaximumAmount!: bigint | null;
  @ReferenceColumn({ to: 'MeterEntity', nullable: true }) readonly meterId!: string | null;
  @Column({ type: 'boolean' }) readonly isByGroup!: boolean;
  @AmountColumn({ nullable: true }) readonly minimumAmount!: bigint | null;
  @AmountColumn({ nullable: true }) readonly maximumAmount!: bigint | null;
  @Column({ type: 'boolean', nullable: true }) readonly chargeFlatAtZero!: boolean | null;
  @InstantColumn() readonly createdAt!: Date;
}
