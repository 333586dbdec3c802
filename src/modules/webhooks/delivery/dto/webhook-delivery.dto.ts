import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import {
  IdProperty,
  InstantProperty,
  ListQueryDto,
  Omittable,
  toWireInstant,
} from '../../../../platform/http';
import type { NumberedAttempt } from '../deliveries.repository';
import {
  type Delivery,
  DELIVERY_KINDS,
  DELIVERY_STATUSES,
  type DeliveryKind,
  type DeliveryStatus,
} from '../domain/delivery';

export class WebhookDeliveryDto {
  @IdProperty('whd_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ description: 'Id of the endpoint.', example: 'whe_01h455vb4pex5vsknk084sn02q' })
  readonly endpoint_id!: string;

  @ApiProperty({
    description: 'Id of the event, and the `webhook-id` of every attempt.',
    example: 'evt_01h455vb4pex5vsknk084sn02q',
  })
  readonly event_id!: string;

  @ApiProperty({ description: 'The type of the event.', example: 'refund.succeeded' })
  readonly event_type!: string;

  @ApiProperty({
    enum: DELIVERY_KINDS,
    description: 'Reason of the delivery: the event itself, a retry, a replay or a test.',
    example: 'event',
  })
  readonly kind!: DeliveryKind;

  @ApiProperty({
    enum: DELIVERY_STATUSES,
    description:
      'Status. `failed`: all attempts are used up. `discarded`: the endpoint was deleted or answered 410.',
    example: 'succeeded',
  })
  readonly status!: DeliveryStatus;

  @ApiProperty({ type: 'integer', description: 'Number of attempts that have ended.', example: 1 })
  readonly attempt_count!: number;

  @InstantProperty('When the next attempt is due, while it is pending.', { nullable: true })
  readonly next_attempt_at!: string | null;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

export function toWebhookDeliveryDto(delivery: Delivery): WebhookDeliveryDto {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpointId,
    event_id: delivery.eventId,
    event_type: delivery.eventType,
    kind: delivery.kind,
    status: delivery.status,
    attempt_count: delivery.attempts,
    next_attempt_at: toWireInstant(delivery.dueAt),
    created_at: toWireInstant(delivery.createdAt),
    updated_at: toWireInstant(delivery.updatedAt),
  };
}

export class WebhookAttemptDto {
  @ApiProperty({ type: 'integer', description: 'Number of the attempt, from 1.', example: 1 })
  readonly number!: number;

  @InstantProperty('When the attempt started.')
  readonly started_at!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Duration of the attempt in milliseconds.',
    example: 84,
  })
  readonly duration_ms!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'HTTP status of the response; null when no response came.',
    example: 200,
  })
  readonly status_code!: number | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Reason why no response came; null when one came.',
    example: null,
  })
  readonly error!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The first 20 kB of the response body.',
    example: 'ok',
  })
  readonly response_start!: string | null;
}

export class WebhookDeliveryWithAttemptsDto extends WebhookDeliveryDto {
  @ApiProperty({ type: [WebhookAttemptDto], description: 'Every attempt that ended, in order.' })
  readonly attempts!: readonly WebhookAttemptDto[];
}

export function toWebhookDeliveryWithAttemptsDto(
  delivery: Delivery,
  attempts: readonly NumberedAttempt[],
): WebhookDeliveryWithAttemptsDto {
  return {
    ...toWebhookDeliveryDto(delivery),
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      started_at: toWireInstant(attempt.startedAt),
      duration_ms: attempt.durationMs,
      status_code: attempt.statusCode,
      error: attempt.error,
      response_start: attempt.responseStart,
    })),
  };
}

export class ListDeliveriesDto extends ListQueryDto {
  @Omittable()
  @IsIn(DELIVERY_STATUSES)
  @ApiPropertyOptional({
    enum: DELIVERY_STATUSES,
    description: 'Only deliveries with this status.',
  })
  readonly status?: DeliveryStatus;
}
