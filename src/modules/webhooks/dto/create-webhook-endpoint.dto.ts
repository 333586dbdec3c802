import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsText, MetadataField, Nullable } from '../../../platform/http';
import type { EndpointTerms } from '../domain/webhook-endpoint';
import { AreEventNames, EVENTS_SCHEMA, IsEndpointUrl, URL_SCHEMA } from './endpoint-fields';

export class CreateWebhookEndpointDto {
  @IsEndpointUrl()
  @ApiProperty(URL_SCHEMA)
  readonly url!: string;

  @AreEventNames()
  @ApiProperty(EVENTS_SCHEMA)
  readonly events!: readonly string[];

  @Nullable()
  @IsText(1, 500)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: 500,
    nullable: true,
    description: 'For display only.',
    example: 'Accounting, production',
  })
  readonly description?: string | null;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toEndpointTerms(dto: CreateWebhookEndpointDto): EndpointTerms {
  return {
    url: dto.url,
    events: dto.events,
    description: dto.description ?? null,
    metadata: dto.metadata ?? {},
  };
}
