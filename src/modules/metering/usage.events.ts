import { defineEvent } from '../../platform/outbox';
import { LateUsageDto, toLateUsageDto } from './dto/late-usage.dto';

export const usageLate = defineEvent({
  type: 'usage.late',
  meaning:
    'Events were stored, or one was voided, in a period that is billed already; the next invoice corrects it. The event shows the period; its id is that of what was billed.',
  dto: LateUsageDto,
  toDto: toLateUsageDto,
});
