import { defineEvents } from '../../../platform/outbox';
import { DiscrepancyDto, toDiscrepancyDto } from './dto/discrepancy.dto';

const discrepancyEvent = defineEvents(DiscrepancyDto, toDiscrepancyDto);

export const discrepancyCreated = discrepancyEvent(
  'provider_discrepancy.created',
  'A report of a provider contradicts the final status of a payment or refund. Somebody has to apply or dismiss it.',
);

export const discrepancyApplied = discrepancyEvent(
  'provider_discrepancy.applied',
  'The report was booked: the payment or refund has succeeded, as `payment.succeeded` or `refund.succeeded` says.',
  { status: 'applied' },
);

export const discrepancyDismissed = discrepancyEvent(
  'provider_discrepancy.dismissed',
  'The report was settled elsewhere. The payment or refund stays as it is.',
  { status: 'dismissed' },
);
