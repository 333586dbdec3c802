import {
  EnumField,
  EnumListFilter,
  EnumProperty,
  FromField,
  IdProperty,
  InstantProperty,
  IntegerProperty,
  ListQueryDto,
  NestedListProperty,
  ReferenceFilter,
  TextField,
  TextProperty,
  toDto,
  ToField,
  toInstantRange,
} from '../../../../platform/http';
import type { NumberedAttempt } from '../deliveries.repository';
import {
  type Delivery,
  type DeliveryFilter,
  DELIVERY_KINDS,
  DELIVERY_STATUSES,
  type DeliveryKind,
  type DeliveryStatus,
} from '../domain/delivery';
import type { RetryDeliveriesDto } from './retry-deliveries.dto';

export class WebhookDeliveryDto {
  @IdProperty('whd_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('Id of the endpoint.', 'whe_01h455vb4pex5vsknk084sn02q')
  readonly endpoint_id!: string;
  @TextProperty(
    'Id of the event, and the `webhook-id` of every attempt.',
    'evt_01h455vb4pex5vsknk084sn02q',
  )
  readonly event_id!: string;
  @TextProperty('The type of the event.', 'refund.succeeded') readonly event_type!: string;
  @EnumProperty(
    DELIVERY_KINDS,
    'Reason of the delivery: the event itself, a retry, a replay or a test.',
    'event',
  )
  readonly kind!: DeliveryKind;
  @EnumProperty(
    DELIVERY_STATUSES,
    'Status. `failed`: all attempts are used up. `discarded`: the endpoint was deleted or answered 410.',
    'succeeded',
  )
  readonly status!: DeliveryStatus;
  @IntegerProperty('Number of attempts that have ended.', 1) readonly attempt_count!: number;
  @InstantProperty(
    'Time of the next attempt; null unless pending. While an attempt is in flight, about 60 s after its start, in case its result is lost.',
    { nullable: true, example: null },
  )
  readonly next_attempt_at!: string | null;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

export function toWebhookDeliveryDto(delivery: Delivery): WebhookDeliveryDto {
  return toDto(WebhookDeliveryDto, {
    ...delivery,
    attemptCount: delivery.attempts,
    nextAttemptAt: delivery.dueAt,
  });
}

export class WebhookAttemptDto {
  @IntegerProperty('Number of the attempt, from 1.', 1) readonly number!: number;
  @InstantProperty('When the attempt started.') readonly started_at!: string;
  @IntegerProperty('Duration of the attempt in milliseconds.', 84) readonly duration_ms!: number;
  @IntegerProperty('HTTP status of the response; null when no response came.', 200, {
    nullable: true,
  })
  readonly status_code!: number | null;
  @TextProperty('Reason why no response came; null when one came.', null, { nullable: true })
  readonly error!: string | null;
  @TextProperty('The first 20 kB of the response body.', 'ok', { nullable: true })
  readonly response_start!: string | null;
}

export class WebhookDeliveryWithAttemptsDto extends WebhookDeliveryDto {
  @NestedListProperty(
    WebhookAttemptDto,
    'Attempts that ended, in order. Kept for 30 days unless configured otherwise.',
  )
  readonly attempts!: readonly WebhookAttemptDto[];
}

/** @param showsResponses false if the caller may not read the event, because a stored response may repeat its data */
export function toWebhookDeliveryWithAttemptsDto(
  delivery: Delivery,
  attempts: readonly NumberedAttempt[],
  showsResponses: boolean,
): WebhookDeliveryWithAttemptsDto {
  return {
    ...toWebhookDeliveryDto(delivery),
    attempts: attempts.map((attempt) =>
      toDto(WebhookAttemptDto, showsResponses ? attempt : { ...attempt, responseStart: null }),
    ),
  };
}

export class ListEndpointDeliveriesDto extends ListQueryDto {
  @EnumField(DELIVERY_STATUSES, 'Only deliveries with this status.', { optional: true })
  readonly status?: DeliveryStatus;
}

export class ListDeliveriesDto extends ListQueryDto {
  @EnumListFilter(DELIVERY_STATUSES, 'Only deliveries with one of these statuses.')
  readonly status?: readonly DeliveryStatus[];
  @ReferenceFilter('Only deliveries to this endpoint.') readonly endpoint_id?: string;
  @TextField('Only deliveries of events of this type.', {
    max: 80,
    optional: true,
    example: 'refund.succeeded',
  })
  readonly event_type?: string;
  @FromField('of creation') readonly from?: string;
  @ToField('of creation') readonly to?: string;
}

export function toDeliveryFilter(query: ListDeliveriesDto | RetryDeliveriesDto): DeliveryFilter {
  return {
    endpointId: query.endpoint_id ?? null,
    eventType: query.event_type ?? null,
    statuses: query.status ?? null,
    created: toInstantRange(query.from, query.to),
  };
}
