import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ReportResult } from '../usage-events.service';

const MOST_WARNINGS = 100;

export class UsageRejectionDto {
  @ApiProperty({
    type: 'integer',
    description: 'The place in `events`, or the line, from 0.',
    example: 17,
  })
  readonly index!: number;

  @ApiProperty({
    description:
      'Stable: `validation_failed`, `malformed_request`, `customer_not_found`, `idempotency_key_reused`, `usage_late` or `usage_in_future`.',
    example: 'customer_not_found',
  })
  readonly code!: string;

  @ApiProperty({ description: 'For people.', example: 'There is no such customer.' })
  readonly message!: string;
}

export class UsageWarningDto {
  @ApiProperty({ description: 'Stable: `usage_not_counted`.', example: 'usage_not_counted' })
  readonly code!: string;

  @ApiProperty({ description: 'The name of the events.', example: 'api_cal' })
  readonly event_name!: string;

  @ApiProperty({ type: 'integer', description: 'Events of the name in the request.', example: 3 })
  readonly events!: number;

  @ApiProperty({
    description: 'For people.',
    example: 'No meter counts events of this name. A meter that is made later will.',
  })
  readonly message!: string;
}

export class AppendResultDto {
  @ApiProperty({ type: 'integer', description: 'Events that were stored.', example: 997 })
  readonly accepted!: number;

  @ApiProperty({ type: 'integer', description: 'Events that were there already.', example: 2 })
  readonly duplicates!: number;

  @ApiProperty({ type: [UsageRejectionDto], description: 'Events that were not stored, in order.' })
  readonly rejected!: readonly UsageRejectionDto[];

  @ApiPropertyOptional({
    type: [UsageWarningDto],
    description:
      'Names of events that were stored and that no meter counts, 100 at most; left out where there are none. A new meter is noticed within 5 s.',
  })
  readonly warnings?: readonly UsageWarningDto[];
}

export function toAppendResultDto(result: ReportResult): AppendResultDto {
  return {
    accepted: result.accepted,
    duplicates: result.duplicates,
    rejected: result.rejected,
    ...(result.uncounted.length === 0 ? {} : { warnings: warningsOf(result) }),
  };
}

function warningsOf({ uncounted }: ReportResult): readonly UsageWarningDto[] {
  return uncounted.slice(0, MOST_WARNINGS).map(({ eventName, events }) => ({
    code: 'usage_not_counted',
    event_name: eventName,
    events,
    message: 'No meter counts events of this name. A meter that is made later will.',
  }));
}
