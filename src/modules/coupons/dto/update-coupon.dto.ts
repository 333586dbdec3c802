import { BooleanField, MetadataField } from '../../../platform/http';
import type { CouponChange } from '../domain/coupon';

export class UpdateCouponDto {
  @BooleanField('If false, the coupon cannot be redeemed.', { optional: true, example: false })
  readonly is_active?: boolean;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toCouponChange(dto: UpdateCouponDto): CouponChange {
  return { isActive: dto.is_active, metadata: dto.metadata };
}
