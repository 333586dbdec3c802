import { BooleanField, MetadataField, TextField } from '../../../platform/http';
import type { EndpointChange } from '../domain/webhook-endpoint';
import { EndpointUrlField, EventNamesField } from './endpoint-fields';

export class UpdateWebhookEndpointDto {
  @EndpointUrlField({ optional: true }) readonly url?: string;
  @EventNamesField({ optional: true }) readonly events?: readonly string[];
  @TextField('For display only; null clears it.', {
    max: 500,
    nullable: true,
    example: 'Accounting, production',
  })
  readonly description?: string | null;
  @BooleanField(
    'Whether events are sent to the endpoint. Enabling an endpoint that the engine disabled clears its `disabled_reason`.',
    { optional: true, example: true },
  )
  readonly is_active?: boolean;
  @BooleanField('If true, the events of one object are sent one after the other.', {
    optional: true,
    example: false,
  })
  readonly ordered?: boolean;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toEndpointChange(dto: UpdateWebhookEndpointDto): EndpointChange {
  return {
    url: dto.url,
    events: dto.events,
    description: dto.description,
    isActive: dto.is_active,
    ordered: dto.ordered,
    metadata: dto.metadata,
  };
}
