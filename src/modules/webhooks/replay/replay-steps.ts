import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Database } from '../../../platform/database';
import { Signals } from '../../../platform/jobs';
import { type EventHead, EventLog } from '../../../platform/outbox';
import { DeliveriesRepository } from '../delivery/deliveries.repository';
import { DELIVERY_WORK } from '../delivery/delivery-claims';
import { newDelivery } from '../delivery/event-dispatcher';
import { matchesType } from '../domain/event-names';
import { webhookEndpointTested } from '../webhooks.events';
import { MAX_REPLAYED, type Replay } from './domain/replay';
import { ReplaysRepository } from './replays.repository';

export const REPLAY_WORK = 'webhook-replays';

const EVENTS_PER_STEP = 1_000;

/** Runs replays step by step. Each step is one transaction. */
@Injectable()
export class ReplaySteps {
  constructor(
    private readonly database: Database,
    private readonly replays: ReplaysRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly events: EventLog,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads the next events of a locked replay, creates deliveries of the matching events, and stores the progress. The
   * replay becomes `failed` if it would create more than {@link MAX_REPLAYED} deliveries, or if the endpoint is
   * inactive.
   */
  async run(before: Replay): Promise<Replay> {
    const { endpointId, readToAt, readToId, toAt } = before;
    const page = await this.events.headsAfter(readToAt, toAt, readToId, EVENTS_PER_STEP);
    const matching = page.filter(
      (event) =>
        !isTestOfOther(event, endpointId) &&
        before.events.some((name) => matchesType(name, event.type)),
    );
    const room = MAX_REPLAYED - before.replayed;
    const first = matching.slice(0, room);
    const kept = await this.events.lock(first.map(({ id }) => id));
    const wanted = first.filter(({ id }) => kept.has(id));
    const now = this.clock.now();
    const made = await this.deliveries.insert(
      wanted.map((event) => newDelivery(event, endpointId, 'replay', now)),
    );
    const isRefused = made < wanted.length;
    const firstLeft = matching[isRefused ? 0 : room];
    const read = firstLeft === undefined ? page : page.slice(0, page.indexOf(firstLeft));
    const last = read.at(-1);
    const after: Replay = {
      ...before,
      ...(firstLeft === undefined
        ? { status: page.length < EVENTS_PER_STEP ? 'completed' : 'running' }
        : {
            status: 'failed',
            failureCode: isRefused ? 'webhook_endpoint_inactive' : 'replay_too_large',
          }),
      readToAt: last?.occurredAt ?? readToAt,
      readToId: last?.id ?? readToId,
      eventsRead: before.eventsRead + read.length,
      replayed: before.replayed + made,
      updatedAt: now,
    };
    await this.replays.update(after);
    this.database.afterCommit(() => {
      if (made > 0) this.signals.announce(DELIVERY_WORK);
      if (after.status === 'running') this.signals.announce(REPLAY_WORK);
    });
    return after;
  }
}

/** Returns true if the event is a test of another endpoint. A test event is sent to the tested endpoint only. */
function isTestOfOther({ type, objectId }: EventHead, endpointId: string): boolean {
  return type === webhookEndpointTested.type && objectId !== endpointId;
}
