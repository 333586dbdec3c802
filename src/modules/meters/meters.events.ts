import { defineEvent } from '../../platform/outbox';
import { MeterDto, toMeterDto } from './dto/meter.dto';

export const meterCreated = defineEvent({
  type: 'meter.created',
  meaning: 'A meter was created. It also counts events that were stored earlier.',
  dto: MeterDto,
  toDto: toMeterDto,
});

export const meterActivated = defineEvent({
  type: 'meter.activated',
  meaning:
    'The backfill of a meter is complete: every stored event is counted. Not sent for a meter that was active when it was created.',
  dto: MeterDto,
  toDto: toMeterDto,
});

export const meterUpdated = defineEvent({
  type: 'meter.updated',
  meaning: 'The name, the policy for late events or the metadata of a meter changed.',
  dto: MeterDto,
  toDto: toMeterDto,
});

export const meterArchived = defineEvent({
  type: 'meter.archived',
  meaning: 'A meter was archived. Existing references continue; new ones are refused.',
  dto: MeterDto,
  toDto: toMeterDto,
  example: { archived_at: '2026-03-01T09:30:00.000Z' },
});
