import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { MetadataField, Omittable } from '../../../platform/http';
import type { CouponChange } from '../domain/coupon';

export class UpdateCouponDto {
  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({ description: 'If false, the coupon cannot be redeemed.', example: false })
  readonly is_active?: boolean;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toCouponChange(dto: UpdateCouponDto): CouponChange {
  return { isActive: dto.is_active, metadata: dto.metadata };
}
