import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIdOf, IsInstant, IsText, ListQueryDto, Omittable } from '../../../platform/http';
import type { EventFilter } from '../store/usage-store';

const LONGEST_EVENT_NAME = 100;

export class ListUsageEventsDto extends ListQueryDto {
  @IsIdOf('cus')
  @ApiProperty({ description: 'Whose usage.', example: 'cus_01h455vb4pex5vsknk084sn02q' })
  readonly customer_id!: string;

  @Omittable()
  @IsText(1, LONGEST_EVENT_NAME)
  @ApiPropertyOptional({ type: String, description: 'Only events of this name.' })
  readonly event_name?: string;

  @Omittable()
  @IsInstant()
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    description: 'Only events that happened then or later.',
  })
  readonly from?: string;

  @Omittable()
  @IsInstant()
  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    description: 'Only events that happened before.',
  })
  readonly to?: string;
}

export function toEventFilter(query: ListUsageEventsDto): EventFilter {
  return {
    customerId: query.customer_id,
    eventName: query.event_name ?? null,
    from: query.from === undefined ? null : new Date(query.from),
    to: query.to === undefined ? null : new Date(query.to),
  };
}
