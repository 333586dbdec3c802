import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Matches } from 'class-validator';
import { IsMinorUnits, IsText, MetadataField, Omittable } from '../../../platform/http';
import type { RefundRequest } from '../domain/refund';

export class CreateRefundDto {
  @Omittable()
  @IsMinorUnits(1)
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'Minor units of the payment’s currency. Left out: all that remains.',
    example: 2_500,
  })
  readonly amount?: number;

  @Omittable()
  @IsText(0, 500)
  @ApiPropertyOptional({ maxLength: 500, description: 'Free text.', example: 'Arrived broken' })
  readonly reason?: string;

  @Omittable()
  @IsString()
  @Matches(/^[\x20-\x7e]{1,255}$/, { message: 'must be 1 to 255 printable ASCII characters' })
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: 255,
    description:
      'Chosen by the client; the same as the `Idempotency-Key` header. The same key gives the same refund.',
    example: 'order-1042-refund-1',
  })
  readonly idempotencyKey?: string;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

/** @param idempotencyKey the key of the request, whether it came in the body or in the header */
export function toRefundRequest(
  paymentId: string,
  dto: CreateRefundDto,
  idempotencyKey: string | null,
): RefundRequest {
  return {
    paymentId,
    amount: dto.amount === undefined ? null : BigInt(dto.amount),
    reason: dto.reason ?? null,
    idempotencyKey,
    metadata: dto.metadata ?? {},
  };
}
