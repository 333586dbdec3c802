import { Injectable } from '@nestjs/common';
import { groupBy } from '../../../core/grouping';
import { AuditTrail } from '../../../platform/audit';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { raise, referenceNotFound } from '../../../platform/errors';
import { Signals } from '../../../platform/jobs';
import { EventLog } from '../../../platform/outbox';
import { webhookEndpointInactive } from '../webhooks.errors';
import { WebhookEndpointsRepository } from '../webhook-endpoints.repository';
import { DeliveriesRepository } from './deliveries.repository';
import { DELIVERY_WORK } from './delivery-claims';
import { type DeliveryFilter, MAX_RETRIED } from './domain/delivery';
import { newDelivery } from './event-dispatcher';

export interface RetriedDeliveries {
  readonly retried: number;
  readonly hasMore: boolean;
}

@Injectable()
export class RetryDeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly deliveries: DeliveriesRepository,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly events: EventLog,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly audit: AuditTrail,
  ) {}

  /**
   * Retries up to {@link MAX_RETRIED} matching deliveries to active endpoints, oldest first: creates new deliveries of
   * the same events. If an event has several deliveries to an endpoint, only the newest can match. A repeated call
   * therefore retries nothing twice.
   * @throws {ProblemError} `reference_not_found`, `webhook_endpoint_inactive`
   */
  retryAll(filter: DeliveryFilter): Promise<RetriedDeliveries> {
    return this.database.transaction(async () => {
      // A concurrent call waits here, and then sees the deliveries that this call created.
      const endpointIds = await this.lockEndpoints(filter.endpointId);
      const found = await this.deliveries.findUnretried(filter, endpointIds, MAX_RETRIED + 1);
      const first = found.slice(0, MAX_RETRIED);
      const kept = await this.events.lock(first.map(({ eventId }) => eventId));
      const chosen = first.filter(({ eventId }) => kept.has(eventId));
      const now = this.clock.now();
      await this.deliveries.insert(
        chosen.map(({ endpointId, eventId: id, eventType: type, objectId, sequence }) =>
          newDelivery({ id, type, objectId, sequence }, endpointId, 'retry', now),
        ),
      );
      for (const [endpointId, some] of groupBy(chosen, (one) => one.endpointId)) {
        await this.recordRetry(endpointId, some.length, filter);
      }
      this.database.afterCommit(() => {
        if (chosen.length > 0) this.signals.announce(DELIVERY_WORK);
      });
      return { retried: chosen.length, hasMore: found.length > MAX_RETRIED };
    });
  }

  /** Locks the endpoint, or all active endpoints if `id` is null. Returns the ids of the locked endpoints. */
  private async lockEndpoints(id: string | null): Promise<readonly string[]> {
    if (id === null) return (await this.endpoints.lockActive()).map((endpoint) => endpoint.id);
    const endpoint =
      (await this.endpoints.lock(id)) ?? raise(referenceNotFound('/endpoint_id', id));
    if (!endpoint.isActive) throw webhookEndpointInactive(id);
    return [id];
  }

  /** Records the retry in the audit log, because creating a delivery records no event. */
  private recordRetry(
    endpointId: string,
    retried: number,
    { statuses, eventType, created: { from, to } }: DeliveryFilter,
  ): Promise<void> {
    return this.audit.record({
      action: 'webhook_endpoint.deliveries_retried',
      objectId: endpointId,
      fields: {
        retried,
        status: statuses,
        event_type: eventType,
        from: from?.toISOString() ?? null,
        to: to?.toISOString() ?? null,
      },
    });
  }
}
