import { type Answer, createdAnswer } from '../../platform/idempotency';
import { defineEvents } from '../../platform/outbox';
import type { Refund, RefundStatus } from './domain/refund';
import { RefundDto, toRefundDto } from './dto/refund.dto';

const refundEvent = defineEvents(RefundDto, toRefundDto);

export const refundCreated = refundEvent(
  'refund.created',
  'A refund was accepted and its amount reserved. The provider has not been asked yet.',
  { status: 'pending' },
);

export const REFUND_EVENTS = {
  succeeded: refundEvent(
    'refund.succeeded',
    'The money was given back. If it follows `refund.failed`, a provider discrepancy was applied.',
  ),
  failed: refundEvent(
    'refund.failed',
    'The provider refused the refund, or a bank returned it after it had succeeded. Its amount can be refunded again.',
    { status: 'failed', failure_code: 'refund_declined' },
  ),
  canceled: refundEvent(
    'refund.canceled',
    'The refund was canceled before any money moved. Its amount can be refunded again.',
    { status: 'canceled' },
  ),
} as const satisfies Record<Exclude<RefundStatus, 'pending'>, unknown>;

/** Returns the HTTP response to the request that creates a refund, and to repetitions of the request. */
export function refundAnswer(refund: Refund): Answer {
  return createdAnswer(toRefundDto(refund), refund.version);
}
