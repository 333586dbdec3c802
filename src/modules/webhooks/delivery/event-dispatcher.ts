import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { wasCreatedBefore, newId } from '../../../platform/ids';
import { Jobs, Signals } from '../../../platform/jobs';
import { DISPATCH_WORK, type EventHead, EventLog, UNDISPATCHED } from '../../../platform/outbox';
import { matchesType } from '../domain/event-names';
import { DeliveriesRepository } from './deliveries.repository';
import { DELIVERY_WORK } from './delivery-claims';
import type { Delivery, DeliveryKind } from './domain/delivery';
import { ReceiversRepository, type EventSubscription } from './receivers.repository';

const BATCH_SIZE = 500;
const EVERY_MS = 500;

/**
 * Creates deliveries of recorded events to the subscribed endpoints. The same commit takes the events off the queue.
 */
@Injectable()
export class EventDispatcher implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly database: Database,
    private readonly events: EventLog,
    private readonly receivers: ReceiversRepository,
    private readonly deliveries: DeliveriesRepository,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: DISPATCH_WORK,
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
      waiting: UNDISPATCHED,
    });
  }

  /** Dispatches a batch of the oldest events. Returns true if more events may be waiting. */
  async runDue(): Promise<boolean> {
    const { dispatched, made } = await this.database.transaction(async () => {
      const events = await this.events.takeUndispatched(BATCH_SIZE);
      const [first] = events;
      if (first === undefined) return { dispatched: 0, made: 0 };
      const now = this.clock.now();
      const subscriptions = await this.receivers.listSubscriptions(first.id);
      const deliveries = events.flatMap((event) =>
        subscriptions
          .filter((subscription) => includes(subscription, event))
          .map(({ endpointId }) => newDelivery(event, endpointId, 'event', now)),
      );
      await this.deliveries.insert(deliveries);
      return { dispatched: events.length, made: deliveries.length };
    });
    if (made > 0) this.signals.announce(DELIVERY_WORK);
    return dispatched === BATCH_SIZE;
  }
}

/**
 * Returns true if the subscription contains the event type and applied when the event was recorded. Compares ids
 * instead of times, because the time of an event may come from a test clock.
 */
function includes(
  { endpointId, events, since, until }: EventSubscription,
  event: EventHead,
): boolean {
  return (
    wasCreatedBefore(endpointId, event.id) &&
    (since === null || event.id >= since) &&
    (until === null || event.id < until) &&
    events.some((name) => matchesType(name, event.type))
  );
}

export function newDelivery(
  event: Omit<EventHead, 'occurredAt'>,
  endpointId: string,
  kind: DeliveryKind,
  now: Date,
): Delivery {
  return {
    id: newId('whd'),
    endpointId,
    eventId: event.id,
    eventType: event.type,
    objectId: event.objectId,
    sequence: event.sequence,
    kind,
    status: 'pending',
    attempts: 0,
    dueAt: now,
    fence: 0,
    createdAt: now,
    updatedAt: now,
  };
}
