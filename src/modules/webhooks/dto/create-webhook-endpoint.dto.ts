import { MetadataField, TextField } from '../../../platform/http';
import type { EndpointTerms } from '../domain/webhook-endpoint';
import { EndpointUrlField, EventNamesField } from './endpoint-fields';

export class CreateWebhookEndpointDto {
  @EndpointUrlField() readonly url!: string;
  @EventNamesField() readonly events!: readonly string[];
  @TextField('For display only.', { max: 500, nullable: true, example: 'Accounting, production' })
  readonly description?: string | null;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toEndpointTerms(dto: CreateWebhookEndpointDto): EndpointTerms {
  return {
    url: dto.url,
    events: dto.events,
    description: dto.description ?? null,
    metadata: dto.metadata ?? {},
  };
}
