import { ApiProperty, ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  IdProperty,
  InstantProperty,
  MetadataProperty,
  toWireInstant,
} from '../../../platform/http';
import {
  DISABLED_REASONS,
  type DisabledReason,
  type WebhookEndpoint,
} from '../domain/webhook-endpoint';

export class WebhookEndpointDto {
  @IdProperty('whe_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({
    description: 'URL that events are sent to.',
    example: 'https://example.com/hooks',
  })
  readonly url!: string;

  @ApiProperty({
    type: [String],
    description: 'Subscribed events: `resource.happened`, `resource.*` or `*`.',
    example: ['invoice.paid', 'refund.*'],
  })
  readonly events!: readonly string[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'For display only.',
    example: 'Accounting, production',
  })
  readonly description!: string | null;

  @ApiProperty({ description: 'No events are sent to an inactive endpoint.', example: true })
  readonly is_active!: boolean;

  @ApiProperty({
    description: 'If true, the events of one object are sent one after the other.',
    example: false,
  })
  readonly ordered!: boolean;

  @ApiProperty({
    type: String,
    enum: DISABLED_REASONS,
    nullable: true,
    description:
      'Reason why the engine disabled the endpoint: `gone` (it answered 410) or `failing` (all attempts failed for 120 hours). Null otherwise.',
    example: null,
  })
  readonly disabled_reason!: DisabledReason | null;

  @MetadataProperty()
  readonly metadata!: object;

  @InstantProperty('When it was created.')
  readonly created_at!: string;

  @InstantProperty('When it last changed.')
  readonly updated_at!: string;
}

const UNKNOWN_EVENTS: ApiPropertyOptions = {
  type: [String],
  description:
    'Names in the request that match no known event type, to reveal typos. They are kept, because a later version may add the event. Omitted when there are none.',
  example: ['invoice.payed'],
};

export class CreatedWebhookEndpointDto {
  @IdProperty('whe_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;

  @ApiProperty({ enum: [true], description: 'Always true.', example: true })
  readonly success!: true;

  @ApiPropertyOptional(UNKNOWN_EVENTS)
  readonly unknown_events?: readonly string[];
}

export class UpdatedWebhookEndpointDto extends WebhookEndpointDto {
  @ApiPropertyOptional(UNKNOWN_EVENTS)
  readonly unknown_events?: readonly string[];
}

export function toWebhookEndpointDto(endpoint: WebhookEndpoint): WebhookEndpointDto {
  return {
    id: endpoint.id,
    url: endpoint.url,
    events: endpoint.events,
    description: endpoint.description,
    is_active: endpoint.isActive,
    ordered: endpoint.ordered,
    disabled_reason: endpoint.disabledReason,
    metadata: endpoint.metadata,
    created_at: toWireInstant(endpoint.createdAt),
    updated_at: toWireInstant(endpoint.updatedAt),
  };
}

export function toCreatedWebhookEndpointDto(
  endpoint: WebhookEndpoint,
  unknownEvents: readonly string[],
): CreatedWebhookEndpointDto {
  return { id: endpoint.id, success: true, ...shown(unknownEvents) };
}

export function toUpdatedWebhookEndpointDto(
  endpoint: WebhookEndpoint,
  unknownEvents: readonly string[],
): UpdatedWebhookEndpointDto {
  return Object.assign(toWebhookEndpointDto(endpoint), shown(unknownEvents));
}

function shown(unknownEvents: readonly string[]): { unknown_events?: readonly string[] } {
  return unknownEvents.length === 0 ? {} : { unknown_events: unknownEvents };
}
