import { ApiPropertyOptional, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  BooleanProperty,
  EnumProperty,
  IdProperty,
  InstantProperty,
  MetadataProperty,
  TextListProperty,
  TextProperty,
  mapperTo,
} from '../../../platform/http';
import {
  DISABLED_REASONS,
  type DisabledReason,
  type WebhookEndpoint,
} from '../domain/webhook-endpoint';

export class WebhookEndpointDto {
  @IdProperty('whe_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @TextProperty('URL that events are sent to.', 'https://example.com/hooks') readonly url!: string;
  @TextListProperty('Subscribed events: `resource.happened`, `resource.*` or `*`.', [
    'invoice.paid',
    'refund.*',
  ])
  readonly events!: readonly string[];
  @TextProperty('For display only.', 'Accounting, production', { nullable: true })
  readonly description!: string | null;
  @BooleanProperty('No events are sent to an inactive endpoint.', true)
  readonly is_active!: boolean;
  @BooleanProperty('If true, the events of one object are sent one after the other.', false)
  readonly ordered!: boolean;
  @EnumProperty(
    DISABLED_REASONS,
    'Reason why the engine disabled the endpoint: `gone` (it answered 410) or `failing` (all attempts failed for 120 hours). Null otherwise.',
    null,
    { nullable: true },
  )
  readonly disabled_reason!: DisabledReason | null;
  @MetadataProperty() readonly metadata!: object;
  @InstantProperty('When it was created.') readonly created_at!: string;
  @InstantProperty('When it last changed.') readonly updated_at!: string;
}

const UNKNOWN_EVENTS: ApiPropertyOptions = {
  type: [String],
  description:
    'Names in the request that match no known event type, to reveal typos. They are kept, because a later version may add the event. Omitted when there are none.',
  example: ['invoice.payed'],
};

export class CreatedWebhookEndpointDto {
  @IdProperty('whe_01h455vb4pex5vsknk084sn02q') readonly id!: string;
  @EnumProperty([true], 'Always true.', true) readonly success!: true;
  @ApiPropertyOptional(UNKNOWN_EVENTS) readonly unknown_events?: readonly string[];
}

export class UpdatedWebhookEndpointDto extends WebhookEndpointDto {
  @ApiPropertyOptional(UNKNOWN_EVENTS) readonly unknown_events?: readonly string[];
}

export const toWebhookEndpointDto = mapperTo(WebhookEndpointDto);

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
