import { defineEvent } from '../../platform/outbox';
import { LateUsageDto, toLateUsageDto } from './dto/late-usage.dto';
import { StoredUsageEventDto, toStoredUsageEventDto } from './dto/stored-usage-event.dto';

export const usageLate = defineEvent({
  type: 'usage.late',
  meaning:
    'Events were stored, or one was voided, in a period that is billed already; the next invoice corrects it. The event shows the period; its id is that of what was billed.',
  dto: LateUsageDto,
  toDto: toLateUsageDto,
});

export const usageVoided = defineEvent({
  type: 'usage.voided',
  meaning: 'An event was taken back: it is kept, and counts no more.',
  dto: StoredUsageEventDto,
  toDto: toStoredUsageEventDto,
  example: { voided_at: '2026-03-02T09:30:00.000Z' },
});
