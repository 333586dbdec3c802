import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

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

  @ApiProperty({
    type: String,
    description: 'Whose usage it is.',
    example: 'cus_01h455vb4pex5vsknk084sn02q',
  })
  readonly customer_id!: string;

  @ApiProperty({
    type: String,
    minLength: 1,
    maxLength: 100,
    description: 'What happened; the meters of this name count it.',
    example: 'api_call',
  })
  readonly event_name!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'When it happened: it belongs to the period that holds this instant.',
    example: '2026-03-01T09:30:00.000Z',
  })
  readonly timestamp!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'What meters read, filter and group by; at most 16 KiB as JSON.',
    example: { bytes: 1024, region: 'eu' },
  })
  readonly properties?: Record<string, unknown>;
}

export class UsageBatchDto {
  @ApiProperty({ type: [UsageEventReportDto], maxItems: 1_000, description: 'The events.' })
  readonly events!: readonly UsageEventReportDto[];
}
