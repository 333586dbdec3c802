import { Check, Column, Entity, Unique } from 'typeorm';
import type { Metadata } from '../../core/metadata';
import {
  AmountColumn,
  IdColumn,
  InstantColumn,
  MetadataColumn,
  RowVersionColumn,
} from '../../platform/database';
import type { Coupon, CouponDuration, CouponType } from './domain/coupon';

@Entity('coupon')
@Unique('coupon_code_unique', ['code'])
@Check('coupon_type_check', `"type" IN ('percent', 'amount')`)
@Check(
  'coupon_percent_check',
  `("type" = 'percent') = ("percent_off" IS NOT NULL) AND "percent_off" > 0 AND "percent_off" <= 100`,
)
@Check(
  'coupon_amount_check',
  `("type" = 'amount') = ("amount_off" IS NOT NULL) AND ("type" = 'amount') = ("currency" IS NOT NULL) AND "amount_off" > 0`,
)
@Check(
  'coupon_duration_check',
  `"duration" IN ('once', 'repeating', 'forever') AND ("duration" = 'repeating') = ("duration_in_months" IS NOT NULL) AND "duration_in_months" > 0`,
)
@Check(
  'coupon_redemptions_check',
  `"times_redeemed" >= 0 AND "max_redemptions" > 0 AND "times_redeemed" <= "max_redemptions"`,
)
export class CouponEntity implements Coupon {
  @IdColumn() readonly id!: string;
  @RowVersionColumn() readonly version!: number;
  @Column({ type: 'varchar', length: 64 }) readonly code!: string;
  @Column({ type: 'varchar', length: 200, nullable: true }) readonly name!: string | null;
  @Column({ type: 'varchar', length: 10 }) readonly type!: CouponType;
  @Column({ type: 'numeric', nullable: true }) readonly percentOff!: string | null;
  @AmountColumn({ nullable: true }) readonly amountOff!: bigint | null;
  @Column({ type: 'char', length: 3, nullable: true }) readonly currency!: string | null;
  @Column({ type: 'varchar', length: 10 }) readonly duration!: CouponDuration;
  @Column({ type: 'integer', nullable: true }) readonly durationInMonths!: number | null;
  @Column({ type: 'integer', nullable: true }) readonly maxRedemptions!: number | null;
  @Column({ type: 'integer', default: 0 }) readonly timesRedeemed!: number;
  @InstantColumn({ nullable: true }) readonly redeemBy!: Date | null;
  @Column({ type: 'varchar', length: 40, array: true, default: [] })
  readonly planIds!: readonly string[];
  @Column({ type: 'boolean', default: true }) readonly isActive!: boolean;
  @MetadataColumn() readonly metadata!: Metadata;
  @InstantColumn() readonly createdAt!: Date;
  @InstantColumn() readonly updatedAt!: Date;
}
