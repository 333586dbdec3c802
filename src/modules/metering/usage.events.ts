import { defineEvents } from '../../platform/outbox';
import { LateUsageDto, toLateUsageDto } from './dto/late-usage.dto';
import { StoredUsageEventDto, toStoredUsageEventDto } from './dto/stored-usage-event.dto';

const lateUsageEvent = defineEvents(LateUsageDto, toLateUsageDto);
const storedUsageEventEvent = defineEvents(StoredUsageEventDto, toStoredUsageEventDto);

export const usageLate = lateUsageEvent(
  'usage.late',
  'Events were stored or voided in a period that is already billed. The next invoice bills the difference. `id` is the id of the billed usage.',
);

export const usageVoided = storedUsageEventEvent(
  'usage.voided',
  'A usage event was voided: it is kept and no longer counts.',
  { voided_at: '2026-03-02T09:30:00.000Z' },
);
