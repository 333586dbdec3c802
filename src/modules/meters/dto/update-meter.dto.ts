import { EnumField, MetadataField, TextField } from '../../../platform/http';
import { LATE_EVENTS, type LateEvents, type MeterChange } from '../domain/meter';
import { MAX_NAME_LENGTH } from './create-meter.dto';

export class UpdateMeterDto {
  @TextField('Display name.', { max: MAX_NAME_LENGTH, optional: true, example: 'API calls' })
  readonly name?: string;
  @EnumField(LATE_EVENTS, 'New policy for events of a billed period.', {
    optional: true,
  })
  readonly late_events?: LateEvents;
  @MetadataField() readonly metadata?: Record<string, unknown>;
}

export function toMeterChange(dto: UpdateMeterDto): MeterChange {
  return { name: dto.name, lateEvents: dto.late_events, metadata: dto.metadata };
}
