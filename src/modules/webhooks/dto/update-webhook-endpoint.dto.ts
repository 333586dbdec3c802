import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IsText, MetadataField, Nullable, Omittable } from '../../../platform/http';
import type { EndpointChange } from '../domain/webhook-endpoint';
import { AreEventNames, EVENTS_SCHEMA, IsEndpointUrl, URL_SCHEMA } from './endpoint-fields';

export class UpdateWebhookEndpointDto {
  @Omittable()
  @IsEndpointUrl()
  @ApiPropertyOptional(URL_SCHEMA)
  readonly url?: string;

  @Omittable()
  @AreEventNames()
  @ApiPropertyOptional(EVENTS_SCHEMA)
  readonly events?: readonly string[];

  @Nullable()
  @IsText(1, 500)
  @ApiPropertyOptional({
    type: String,
    minLength: 1,
    maxLength: 500,
    nullable: true,
    description: 'For display only; null clears it.',
    example: 'Accounting, production',
  })
  readonly description?: string | null;

  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    description:
      'Whether events are sent to the endpoint. Enabling an endpoint that the engine disabled clears its `disabled_reason`.',
    example: true,
  })
  readonly is_active?: boolean;

  @Omittable()
  @IsBoolean()
  @ApiPropertyOptional({
    description: 'If true, the events of one object are sent one after the other.',
    example: false,
  })
  readonly ordered?: boolean;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
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
