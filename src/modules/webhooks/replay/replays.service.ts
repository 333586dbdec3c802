import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { Database, type Page, type PageRequest, Reports } from '../../../platform/database';
import { newId } from '../../../platform/ids';
import { Jobs, Signals } from '../../../platform/jobs';
import { EventLog } from '../../../platform/outbox';
import { DeliveriesRepository } from '../delivery/deliveries.repository';
import { DELIVERY_WORK } from '../delivery/delivery-claims';
import { newDelivery } from '../delivery/event-dispatcher';
import { matchesType } from '../domain/event-names';
import { WebhookEndpointsService } from '../webhook-endpoints.service';
import {
  webhookEndpointInactive,
  webhookReplayNotFound,
  webhookReplayRunning,
} from '../webhooks.errors';
import { MOST_REPLAYED, type Replay } from './domain/replay';
import { ReplaysRepository } from './replays.repository';

const REPLAY_WORK = 'webhook-replays';

/** Events that one step reads in one transaction. */
const EVENTS_AT_ONCE = 1_000;
const EVERY_MS = 5_000;

export interface ReplayRequest {
  /** `[from, to)` */
  readonly from: Date;
  readonly to: Date;
  /** Event names or patterns; null for the subscribed events of the endpoint. */
  readonly events: readonly string[] | null;
}

/** Replays the events of a period to an endpoint, with the same ids, the oldest first. */
@Injectable()
export class ReplaysService implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly database: Database,
    private readonly reports: Reports,
    private readonly replays: ReplaysRepository,
    private readonly deliveries: DeliveriesRepository,
    private readonly endpoints: WebhookEndpointsService,
    private readonly events: EventLog,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: REPLAY_WORK,
      idleMs: EVERY_MS,
      runDue: () => this.continueNext(),
    });
  }

  /**
   * Starts a replay and runs its first step, which completes a short replay.
   * @throws {ProblemError} `webhook_endpoint_not_found`, `webhook_endpoint_inactive`, `webhook_replay_running`
   */
  start(endpointId: string, { from, to, events }: ReplayRequest): Promise<Replay> {
    return this.database.transaction(async () => {
      const endpoint = await this.endpoints.lock(endpointId);
      if (!endpoint.isActive) throw webhookEndpointInactive(endpointId);
      const running = await this.replays.findRunning(endpointId);
      if (running !== null) throw webhookReplayRunning(endpointId, running.id);
      const now = this.clock.now();
      const replay: Replay = {
        id: newId('whr'),
        endpointId,
        fromAt: from,
        toAt: to,
        events: events ?? endpoint.events,
        status: 'running',
        failureCode: null,
        readToAt: from,
        readToId: '',
        eventsRead: 0,
        replayed: 0,
        createdAt: now,
        updatedAt: now,
      };
      await this.replays.insert(replay);
      return this.step(replay);
    });
  }

  /** @throws {ProblemError} `webhook_endpoint_not_found`, `webhook_replay_not_found` */
  async get(endpointId: string, id: string): Promise<Replay> {
    await this.endpoints.get(endpointId);
    const replay = await this.replays.find(endpointId, id);
    if (replay === null) throw webhookReplayNotFound(id);
    return replay;
  }

  /** @throws {ProblemError} `webhook_endpoint_not_found` */
  async list(endpointId: string, request: PageRequest): Promise<Page<Replay>> {
    await this.endpoints.get(endpointId);
    return this.replays.page(endpointId, request);
  }

  /**
   * Runs one step of the running replay that has waited longest. Returns false when there was none. A step that does not
   * commit leaves nothing behind and is repeated.
   */
  continueNext(): Promise<boolean> {
    return this.reports.commit('replay', async () => {
      const replay = await this.replays.lockNextRunning();
      if (replay === null) return false;
      await this.step(replay);
      return true;
    });
  }

  /** Reads the next events of a locked replay, creates deliveries for matching events and records the progress. */
  private async step(before: Replay): Promise<Replay> {
    const { endpointId, readToAt, readToId, toAt } = before;
    const now = this.clock.now();
    const page = await this.events.headsAfter(readToAt, toAt, readToId, EVENTS_AT_ONCE);
    const matching = page.filter(({ type }) =>
      before.events.some((name) => matchesType(name, type)),
    );
    const room = MOST_REPLAYED - before.replayed;
    const wanted = matching.slice(0, room);
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
        ? { status: page.length < EVENTS_AT_ONCE ? 'completed' : 'running' }
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
