import { defineEvent } from '../../platform/outbox';
import { LateUsageDto, toLateUsageDto } from './dto/late-usage.dto';
import { StoredUsageEventDto, toStoredUsageEventDto } from './dto/stored-usage-event.dto';

export const usageLate = defineEvent({
  type: 'usage.late',
  meaning:
    'Events were stored or voided in a period that is already billed. The next invoice corrects it. The id is that of the bill.',
  dto: LateUsageDto,
  toDto: toLateUsageDto,
});

export const usageVoided = defineEvent({
  type: 'usage.voided',
  meaning: 'A usage event was voided: it is kept and no longer counts.',
  dto: StoredUsageEventDto,
  toDto: toStoredUsageEventDto,
  example: { voided_at: '2026-03-02T09:30:00.000Z' },
});
