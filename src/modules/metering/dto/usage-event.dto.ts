import { InstantProperty, MapProperty, TextProperty } from '../../../platform/http';

import { ApiProperty } from '@nestjs/swagger';

/** For the documentation; what is sent is read by `read-usage-event.ts`. */
export class UsageEventReportDto {
  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 255,
    description: 'Chosen by the client, unique for ever: the same key twice is one event.',
    example: 'req-8f14e45f',
  })
  readonly idempotency_key!: string;
  @TextProperty('Whose usage it is.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly customer_id!: string;
  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 100,
    description: 'What happened; the meters of this name count it.',
    example: 'api_call',
  })
  readonly event_name!: string;
  @InstantProperty('When it happened: it belongs to the period that holds this instant.')
  readonly timestamp!: string;
  @MapProperty(
    'What meters read, filter and group by; at most 16 KiB as JSON.',
    { bytes: 1024, region: 'eu' },
    { optional: true },
  )
  readonly properties?: Record<string, unknown>;
}

export class UsageBatchDto {
  @ApiProperty({ type: [UsageEventReportDto], maxItems: 1_000, description: 'The events.' })
  readonly events!: readonly UsageEventReportDto[];
}
