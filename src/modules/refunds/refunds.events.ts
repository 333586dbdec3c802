import { type Answer, createdAnswer } from '../../platform/idempotency';
import { defineEvent } from '../../platform/outbox';
import type { Refund, RefundStatus } from './domain/refund';
import { RefundDto, toRefundDto } from './dto/refund.dto';

const shown = { dto: RefundDto, toDto: toRefundDto };

export const refundCreated = defineEvent({
  type: 'refund.created',
  meaning: 'A refund was taken up and its amount reserved; the provider has not been asked yet.',
  example: { status: 'pending' },
  ...shown,
});

/** The event of each state a refund can come into. */
export const REFUND_EVENTS = {
  succeeded: defineEvent({
    type: 'refund.succeeded',
    meaning:
      'The money was given back; after `refund.failed`, that was found later and booked by applying a provider discrepancy.',
    ...shown,
  }),
  failed: defineEvent({
    type: 'refund.failed',
    meaning:
      'The provider refused the refund, or a bank returned it after it had succeeded; its amount can be refunded again.',
    example: { status: 'failed', failure_code: 'refund_declined' },
    ...shown,
  }),
  canceled: defineEvent({
    type: 'refund.canceled',
    meaning: 'The refund was given up before any money moved; its amount can be refunded again.',
    example: { status: 'canceled' },
    ...shown,
  }),
} as const satisfies Record<Exclude<RefundStatus, 'pending'>, unknown>;

/** What the request that made the refund is answered, now and whenever it is repeated. */
export function answerAbout(refund: Refund): Answer {
  return createdAnswer(toRefundDto(refund), refund.version);
}
