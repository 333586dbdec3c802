import { defineEvents } from '../../../platform/outbox';
import { DisputeDto, toDisputeDto } from './dto/dispute.dto';

const disputeEvent = defineEvents(DisputeDto, toDisputeDto);

export const disputeCreated = disputeEvent(
  'dispute.created',
  'The bank of a customer disputes a payment, or asks about it. `evidence_due_at` is the deadline for an answer at the provider. ' +
    'The subscription continues; you decide whether the customer keeps access.',
);

export const disputeUpdated = disputeEvent(
  'dispute.updated',
  'A dispute changed: an inquiry became a chargeback, funds were withdrawn or reinstated, or a decided dispute was reopened.',
);

export const disputeClosed = disputeEvent(
  'dispute.closed',
  'A dispute was decided: `status` is `won`, `lost`, or `closed` if it ended without a decision about money.',
  { status: 'won', amount_reinstated: 10_000, evidence_due_at: null },
);
