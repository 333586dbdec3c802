import { defineEvent } from '../../../platform/outbox';
import { DiscrepancyDto, toDiscrepancyDto } from './dto/discrepancy.dto';

const shown = { dto: DiscrepancyDto, toDto: toDiscrepancyDto };

export const discrepancyCreated = defineEvent({
  type: 'provider_discrepancy.created',
  meaning:
    'A provider reported something else than the final state of a payment or refund. Somebody has to look at it: apply it or ' +
    'dismiss it.',
  ...shown,
});

export const discrepancyApplied = defineEvent({
  type: 'provider_discrepancy.applied',
  meaning:
    'The report was booked: the payment or refund has succeeded, as `payment.succeeded` or `refund.succeeded` says.',
  example: { status: 'applied' },
  ...shown,
});

export const discrepancyDismissed = defineEvent({
  type: 'provider_discrepancy.dismissed',
  meaning: 'The report was settled elsewhere. The payment or refund stays as it is.',
  example: { status: 'dismissed' },
  ...shown,
});
