import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { IsText, MetadataField, Omittable } from '../../../platform/http';
import { LATE_EVENTS, type LateEvents, type MeterChange } from '../domain/meter';
import { LONGEST_NAME } from './create-meter.dto';

export class UpdateMeterDto {
  @Omittable()
  @IsText(1, LONGEST_NAME)
  @ApiPropertyOptional({
    minLength: 1,
    maxLength: LONGEST_NAME,
    description: 'For people.',
    example: 'API calls',
  })
  readonly name?: string;

  @Omittable()
  @IsIn(LATE_EVENTS)
  @ApiPropertyOptional({
    enum: LATE_EVENTS,
    description: 'What becomes of an event of a period that was billed, from now on.',
  })
  readonly late_events?: LateEvents;

  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toMeterChange(dto: UpdateMeterDto): MeterChange {
  return { name: dto.name, lateEvents: dto.late_events, metadata: dto.metadata };
}
