import { type Answer, changedAnswer } from '../../../platform/idempotency';
import { defineEvents } from '../../../platform/outbox';
import type { Discrepancy } from './domain/discrepancy';
import { DiscrepancyDto, toDiscrepancyDto } from './dto/discrepancy.dto';

const discrepancyEvent = defineEvents(DiscrepancyDto, toDiscrepancyDto);

export const discrepancyCreated = discrepancyEvent(
  'provider_discrepancy.created',
  'A report of a provider contradicts the final status of a payment or refund. An operator must apply or dismiss it.',
);

export const discrepancyApplied = discrepancyEvent(
  'provider_discrepancy.applied',
  'The report was booked: the payment or refund has succeeded, as `payment.succeeded` or `refund.succeeded` reports.',
  { status: 'applied' },
);

export const discrepancyDismissed = discrepancyEvent(
  'provider_discrepancy.dismissed',
  'The discrepancy was resolved outside this service, or its refund failed at the provider. The payment or refund does not change.',
  { status: 'dismissed' },
);

/** Returns the HTTP response to the request that applies a discrepancy, and to repetitions of the request. */
export function appliedAnswer(discrepancy: Discrepancy): Answer {
  return changedAnswer(toDiscrepancyDto(discrepancy));
}
