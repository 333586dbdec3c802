import { EnumField, MetadataField, TextField } from '../../../platform/http';
import { LATE_EVENTS, type LateEvents, type MeterChange } from '../domain/meter';
import { LONGEST_NAME } from './create-meter.dto';

export class UpdateMeterDto {
  @TextField('For people.', { most: LONGEST_NAME, optional: true, example: 'API calls' })
  readonly name?: string;
  @EnumField(LATE_EVENTS, 'What becomes of an event of a period that was billed, from now on.', {
    optional: true,
  })
  readonly late_events?: LateEvents;
  @MetadataField()
  readonly metadata?: Record<string, unknown>;
}

export function toMeterChange(dto: UpdateMeterDto): MeterChange {
  return { name: dto.name, lateEvents: dto.late_events, metadata: dto.metadata };
}
