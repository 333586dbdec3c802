import { type Answer, createdAnswer } from '../../platform/idempotency';
import { defineEvent } from '../../platform/outbox';
import type { Refund, RefundStatus } from './domain/refund';
import { RefundDto, toRefundDto } from './dto/refund.dto';

const shown = { dto: RefundDto, toDto: toRefundDto };

export const refundCreated = defineEvent({
  type: 'refund.created',
  meaning: 'A refund was accepted and its amount reserved. The provider has not been asked yet.',
  example: { status: 'pending' },
  ...shown,
});

/** Event of each status after `pending`. */
export const REFUND_EVENTS = {
  succeeded: defineEvent({
    type: 'refund.succeeded',
    meaning:
      'The money was given back. After `refund.failed`, an operator booked it by applying a provider discrepancy.',
    ...shown,
  }),
  failed: defineEvent({
    type: 'refund.failed',
    meaning:
      'The provider refused the refund, or a bank returned it after it had succeeded. Its amount can be refunded again.',
    example: { status: 'failed', failure_code: 'refund_declined' },
    ...shown,
  }),
  canceled: defineEvent({
    type: 'refund.canceled',
    meaning: 'The refund was canceled before any money moved. Its amount can be refunded again.',
    example: { status: 'canceled' },
    ...shown,
  }),
} as const satisfies Record<Exclude<RefundStatus, 'pending'>, unknown>;

/** Returns the answer to the request that created the refund, and to its repetitions. */
export function refundAnswer(refund: Refund): Answer {
  return createdAnswer(toRefundDto(refund), refund.version);
}
