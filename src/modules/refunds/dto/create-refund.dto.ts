import { KeyField, MetadataField, MinorUnitsField, TextField } from '../../../platform/http';
import type { RefundRequest } from '../domain/refund';

export class CreateRefundDto {
  @MinorUnitsField(1, 'Minor units of the payment’s currency. Left out: all that remains.', {
    optional: true,
    example: 2_500,
  })
  readonly amount?: number;
  @TextField('Free text.', { least: 0, most: 500, optional: true, example: 'Arrived broken' })
  readonly reason?: string;
  @KeyField(
    'Chosen by the client; the same as the `Idempotency-Key` header. The same key gives the same refund.',
    { optional: true, example: 'order-1042-refund-1' },
  )
  readonly idempotencyKey?: string;
  @MetadataField() readonly metadata?: Record<string, unknown>;
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
