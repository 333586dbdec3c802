import { Injectable } from '@nestjs/common';
import { changedAt } from '../../../core/next-version';
import { raise } from '../../../platform/errors';
import { AuditTrail } from '../../../platform/audit';
import { Clock } from '../../../platform/clock';
import { Database, type Page, type PageRequest } from '../../../platform/database';
import { Signals } from '../../../platform/jobs';
import { type EventHead, EventLog, Outbox } from '../../../platform/outbox';
import type { WebhookEndpoint } from '../domain/webhook-endpoint';
import { WebhookEndpointsService } from '../webhook-endpoints.service';
import {
  webhookDeliveryNotFound,
  webhookDeliveryPending,
  webhookEndpointInactive,
} from '../webhooks.errors';
import { webhookEndpointTested } from '../webhooks.events';
import { DeliveriesRepository, type NumberedAttempt } from './deliveries.repository';
import { DELIVERY_WORK } from './delivery-claims';
import type { Delivery, DeliveryFilter, DeliveryStatus } from './domain/delivery';
import { newDelivery } from './event-dispatcher';

@Injectable()
export class DeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly deliveries: DeliveriesRepository,
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: EventLog,
    private readonly outbox: Outbox,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly audit: AuditTrail,
  ) {}

  /** @throws {ProblemError} `webhook_delivery_not_found` */
  async get(id: string): Promise<{ delivery: Delivery; attempts: readonly NumberedAttempt[] }> {
    const delivery = (await this.deliveries.find(id)) ?? raise(webhookDeliveryNotFound(id));
    return { delivery, attempts: await this.deliveries.attemptsOf(id) };
  }

  /** @throws {ProblemError} `webhook_endpoint_not_found` */
  async listOf(
    endpointId: string,
    status: DeliveryStatus | null,
    request: PageRequest,
  ): Promise<Page<Delivery>> {
    await this.endpoints.get(endpointId);
    const statuses = status === null ? null : [status];
    const anyTime = { from: null, to: null };
    return this.list({ endpointId, statuses, eventType: null, created: anyTime }, request);
  }

  list(filter: DeliveryFilter, request: PageRequest): Promise<Page<Delivery>> {
    return this.deliveries.page(filter, request);
  }

  /**
   * Sends a test event to an endpoint, whether or not the endpoint subscribed to `webhook_endpoint.tested`.
   * @throws {ProblemError} `webhook_endpoint_not_found`, `webhook_endpoint_inactive`
   */
  test(endpointId: string): Promise<Delivery> {
    return this.database.transaction(async () => {
      const endpoint = await this.activeEndpoint(endpointId);
      const now = this.clock.now();
      const event = await this.outbox.record(webhookEndpointTested, {
        before: endpoint,
        after: endpoint,
        occurredAt: changedAt(now, endpoint),
      });
      await this.events.skipDispatch(event.id);
      return this.createDelivery(event, endpointId, 'test', now);
    });
  }

  /**
   * Retries a delivery that has ended: creates a new delivery of the same event, with the same event id.
   * @throws {ProblemError} `webhook_delivery_not_found`, `webhook_delivery_pending`, `webhook_endpoint_inactive`
   */
  retry(id: string): Promise<Delivery> {
    return this.database.transaction(async () => {
      const { delivery } = await this.get(id);
      if (delivery.status === 'pending') throw webhookDeliveryPending(id);
      await this.activeEndpoint(delivery.endpointId);
      const event = (await this.events.lock([delivery.eventId])).get(delivery.eventId);
      // Undefined: the event and its deliveries were deleted meanwhile.
      if (event === undefined) throw webhookDeliveryNotFound(id);
      const made = await this.createDelivery(event, delivery.endpointId, 'retry', this.clock.now());
      await this.audit.record({
        action: 'webhook_delivery.retried',
        objectId: made.id,
        fields: { former_delivery_id: id, endpoint_id: made.endpointId, event_id: made.eventId },
      });
      return made;
    });
  }

  private async createDelivery(
    event: EventHead,
    endpointId: string,
    kind: 'test' | 'retry',
    now: Date,
  ): Promise<Delivery> {
    const delivery = newDelivery(event, endpointId, kind, now);
    await this.deliveries.insert([delivery]);
    this.database.afterCommit(() => this.signals.announce(DELIVERY_WORK));
    return delivery;
  }

  private async activeEndpoint(id: string): Promise<WebhookEndpoint> {
    const endpoint = await this.endpoints.lock(id);
    if (!endpoint.isActive) throw webhookEndpointInactive(id);
    return endpoint;
  }
}
