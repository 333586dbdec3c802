import { IsIn } from 'class-validator';
import {
  BooleanProperty,
  FromField,
  IntegerProperty,
  ListField,
  ReferenceField,
  TextField,
  mapperTo,
  ToField,
} from '../../../../platform/http';
import { MAX_RETRIED, RETRIED_STATUSES, type RetriedStatus } from '../domain/delivery';

export class RetryDeliveriesDto {
  @ListField(
    { type: 'string', enum: [...RETRIED_STATUSES] },
    [IsIn(RETRIED_STATUSES, { each: true })],
    'Statuses of the deliveries: `failed`, `discarded` or both.',
    { min: 1, max: RETRIED_STATUSES.length, unique: true, example: ['failed'] },
  )
  readonly status!: readonly RetriedStatus[];
  @ReferenceField('Only deliveries to this endpoint.', { optional: true })
  readonly endpoint_id?: string;
  @TextField('Only deliveries of events of this type.', {
    max: 80,
    optional: true,
    example: 'refund.succeeded',
  })
  readonly event_type?: string;
  @FromField('of creation') readonly from?: string;
  @ToField('of creation') readonly to?: string;
}

export class RetriedDeliveriesDto {
  @IntegerProperty(
    `Number of deliveries that were created, at most ${MAX_RETRIED.toLocaleString('en')}.`,
    12,
  )
  readonly retried!: number;
  @BooleanProperty(
    'True if more deliveries match. Send the request again, with another key.',
    false,
  )
  readonly has_more!: boolean;
}

export const toRetriedDeliveriesDto = mapperTo(RetriedDeliveriesDto);
