import { createHash } from 'node:crypto';
import {
  IdProperty,
  InstantProperty,
  MapProperty,
  TextProperty,
  toDto,
} from '../../../platform/http';
import { idOfBytes } from '../../../platform/ids';
import type { StoredUsageEvent } from '../domain/usage-event';

const ID_BYTES = 16;

export class StoredUsageEventDto {
  @IdProperty('uev_4m9h7q2v1k8d6s0f3b5n7r9t2w') readonly id!: string;
  @TextProperty('Chosen by the client; unique forever.', 'req-8f14e45f')
  readonly idempotency_key!: string;
  @TextProperty('Id of the customer.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @TextProperty('Name of the event.', 'api_call') readonly event_name!: string;
  @InstantProperty('Time of the event.') readonly timestamp!: string;
  @MapProperty('Properties as they were sent.', { bytes: 1024, region: 'eu' })
  readonly properties!: object;
  @InstantProperty('When it was stored.') readonly received_at!: string;
  @InstantProperty('When it was voided. A voided event no longer counts.', {
    nullable: true,
    example: null,
  })
  readonly voided_at!: string | null;
}

export function toStoredUsageEventDto(event: StoredUsageEvent): StoredUsageEventDto {
  const digest = createHash('sha256').update(event.idempotencyKey).digest();
  const id = idOfBytes('uev', digest.subarray(0, ID_BYTES));
  return toDto(StoredUsageEventDto, { ...event, id });
}
