import { defineEvents } from '../../platform/outbox';
import { MeterDto, toMeterDto } from './dto/meter.dto';

const meterEvent = defineEvents(MeterDto, toMeterDto);

export const meterCreated = meterEvent(
  'meter.created',
  'A meter was created. It also counts events that were stored earlier.',
);

export const meterActivated = meterEvent(
  'meter.activated',
  'The backfill of a meter is complete: every stored event is counted. Not sent for a meter that was active when it was created.',
);

export const meterUpdated = meterEvent(
  'meter.updated',
  'The name, the policy for late events or the metadata of a meter changed.',
);

export const meterArchived = meterEvent(
  'meter.archived',
  'A meter was archived. Existing references continue; new ones are refused.',
  { archived_at: '2026-03-01T09:30:00.000Z' },
);
