import { ApiProperty } from '@nestjs/swagger';
import { InstantProperty, MapProperty } from '../../../platform/http';
import { idPattern } from '../../../platform/ids';

/** Documents the request body. `read-usage-event.ts` validates it. */
export class UsageEventReportDto {
  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 255,
    description: 'Chosen by the client, unique forever: the same key twice is one event.',
    example: 'req-8f14e45f',
  })
  readonly idempotency_key!: string;
  @ApiProperty({
    type: String,
    pattern: idPattern('cus'),
    description: 'Id of the customer.',
    example: 'cus_01h455vb4pex5vsknk084sn02q',
  })
  readonly customer_id!: string;
  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 100,
    description: 'Name of the event. Meters with this event name count it.',
    example: 'api_call',
  })
  readonly event_name!: string;
  @InstantProperty('Time of the event; decides the period it belongs to.')
  readonly timestamp!: string;
  @MapProperty(
    'Values that meters read, filter and group by; at most 16 KiB as JSON.',
    { bytes: 1024, region: 'eu' },
    { optional: true },
  )
  readonly properties?: Record<string, unknown>;
}

export class UsageBatchDto {
  @ApiProperty({
    type: [UsageEventReportDto],
    maxItems: 1_000,
    description: 'Events, at most 1,000.',
  })
  readonly events!: readonly UsageEventReportDto[];
}
