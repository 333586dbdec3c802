import { Check, Column, Entity, Index, Unique } from 'typeorm';
import { AmountColumn, IdColumn, InstantColumn, ReferenceColumn } from '../../platform/database';
import type { CouponRedemption } from './domain/redemption';

@Entity('coupon_redemption')
@Unique('coupon_redemption_subscription_unique', ['subscriptionId', 'couponId'])
@Index('coupon_redemption_customer_index', ['customerId'])
@Index('coupon_redemption_coupon_index', ['couponId', 'id'])
@Check('coupon_redemption_amounts_check', `"applied_amount" >= 0 AND "remaining_amount" >= 0`)
@Check('coupon_redemption_removal_check', `"removed_at" IS NULL OR "ended_at" IS NOT NULL`)
export class CouponRedemptionEntity implements CouponRedemption {
  @IdColumn() readonly id!: string;
  @ReferenceColumn({ to: 'CouponEntity' }) readonly couponId!: string;
  @ReferenceColumn() readonly subscriptionId!: string;
  @ReferenceColumn({ to: 'CustomerEntity' }) readonly customerId!: string;
  @Column({ type: 'char', length: 3 }) readonly currency!: string;
  @InstantColumn() readonly redeemedAt!: Date;
  @InstantColumn({ nullable: true }) readonly endsAt!: Date | null;
  @AmountColumn({ nullable: true }) readonly remainingAmount!: bigint | null;
  @AmountColumn() readonly appliedAmount!: bigint;
  @AmountColumn({ default: 0 }) readonly correctionsAmount!: bigint;
  @InstantColumn({ nullable: true }) readonly endedAt!: Date | null;
  @InstantColumn({ nullable: true }) readonly removedAt!: Date | null;
}
