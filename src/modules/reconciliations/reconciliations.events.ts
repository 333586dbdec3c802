import { defineEvents } from '../../platform/outbox';
import type { ReconciliationStatus } from './reconciliation';
import { ReconciliationDto, toReconciliationDto } from './dto/reconciliation.dto';

const reconciliationEvent = defineEvents(ReconciliationDto, toReconciliationDto);

export const reconciliationCreated = reconciliationEvent(
  'reconciliation.created',
  'A comparison with a payment provider began.',
  { status: 'running', ended_at: null },
);

export const RECONCILIATION_EVENTS = {
  completed: reconciliationEvent(
    'reconciliation.completed',
    'A comparison with a payment provider ended. An operator must check the differences if `differences_found` is not 0.',
  ),
  failed: reconciliationEvent(
    'reconciliation.failed',
    'A comparison with a payment provider is incomplete, because it got no further for hours. It can have found differences.',
    { status: 'failed', failure_code: 'provider_unavailable' },
  ),
} as const satisfies Record<Exclude<ReconciliationStatus, 'running'>, unknown>;
