import { ApiProperty } from '@nestjs/swagger';
import {
  ActorProperty,
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireAmount,
  toWireInstant,
} from '../../../platform/http';
import { type Refund, REFUND_STATUSES, type RefundStatus } from '../domain/refund';

export class RefundDto {
  @IdProperty('ref_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({
    description: 'The payment given back.',
    example: 'pay_01h455vb4pex5vsknk084sn02q',
  })
  readonly payment_id!: string;

  @ApiProperty({ type: 'integer', description: 'Minor units of `currency`.', example: 2_500 })
  readonly amount!: number;

  @ApiProperty({ description: 'ISO 4217; the payment’s.', example: 'EUR' })
  readonly currency!: string;

  @ApiProperty({
    enum: REFUND_STATUSES,
    description:
      'The status. `pending` reserves the amount; `succeeded` becomes `failed` when a bank returns the money.',
    example: 'succeeded',
  })
  readonly status!: RefundStatus;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Free text.',
    example: 'Arrived broken',
  })
  readonly reason!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The key the client sent, in the body or as the `Idempotency-Key` header.',
    example: 'order-1042-refund-1',
  })
  readonly idempotencyKey!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why the provider refused, when `failed`.',
    example: null,
  })
  readonly failure_code!: string | null;

  @ActorProperty('Who created it')
  readonly actor!: string;

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toRefundDto(refund: Refund): RefundDto {
  return {
    id: refund.id,
    payment_id: refund.paymentId,
    amount: toWireAmount(refund.amount),
    currency: refund.currency,
    status: refund.status,
    reason: refund.reason,
    idempotencyKey: refund.idempotencyKey,
    failure_code: refund.failureCode,
    actor: refund.actor,
    metadata: refund.metadata,
    created_at: toWireInstant(refund.createdAt),
    updated_at: toWireInstant(refund.updatedAt),
  };
}
