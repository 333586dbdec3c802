import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { emptyPeriod, raise } from '../../../platform/errors';
import { Clock } from '../../../platform/clock';
import { Database, type Page, type PageRequest, Reports } from '../../../platform/database';
import { newId } from '../../../platform/ids';
import { Jobs } from '../../../platform/jobs';
import { WebhookEndpointsService } from '../webhook-endpoints.service';
import {
  webhookEndpointInactive,
  webhookReplayNotFound,
  webhookReplayRunning,
} from '../webhooks.errors';
import type { Replay } from './domain/replay';
import { REPLAY_WORK, ReplaySteps } from './replay-steps';
import { ReplaysRepository } from './replays.repository';

const EVERY_MS = 5_000;

export interface ReplayRequest {
  /** Period `[from, to)` in which the events happened. */
  readonly from: Date;
  readonly to: Date;
  /** Event names or patterns; null: the subscribed events of the endpoint. */
  readonly events: readonly string[] | null;
}

/** Sends the events of a period to an endpoint again, with the same ids, oldest first. */
@Injectable()
export class ReplaysService implements OnModuleInit {
  private readonly logger = new Logger('webhook-replays');

  constructor(
    private readonly jobs: Jobs,
    private readonly database: Database,
    private readonly reports: Reports,
    private readonly replays: ReplaysRepository,
    private readonly steps: ReplaySteps,
    private readonly endpoints: WebhookEndpointsService,
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
   * Starts a replay and runs the first step. If the period has fewer than 1,000 events, this step ends the replay.
   * @throws {ProblemError} `validation_failed` for an empty period, `webhook_endpoint_not_found`,
   *   `webhook_endpoint_inactive`, `webhook_replay_running`
   */
  start(endpointId: string, { from, to, events }: ReplayRequest): Promise<Replay> {
    return this.database.transaction(async () => {
      if (from >= to) throw emptyPeriod();
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
      return this.steps.run(replay);
    });
  }

  /** @throws {ProblemError} `webhook_endpoint_not_found`, `webhook_replay_not_found` */
  async get(endpointId: string, id: string): Promise<Replay> {
    await this.endpoints.get(endpointId);
    return (await this.replays.find(endpointId, id)) ?? raise(webhookReplayNotFound(id));
  }

  /** @throws {ProblemError} `webhook_endpoint_not_found` */
  async list(endpointId: string, request: PageRequest): Promise<Page<Replay>> {
    await this.endpoints.get(endpointId);
    return this.replays.page(endpointId, request);
  }

  /**
   * Runs one step of the running replay whose last step is longest ago. Returns false if no replay is running. The step
   * is one transaction, so a failed step has no effect. It is repeated after the steps of other replays.
   */
  async continueNext(): Promise<boolean> {
    let running = null as Replay | null;
    try {
      return await this.reports.commit('replay', async () => {
        const replay = await this.replays.lockNextRunning();
        if (replay === null) return false;
        running = replay;
        await this.steps.run(replay);
        return true;
      });
    } catch (error) {
      if (running !== null) await this.moveBack(running);
      throw error;
    }
  }

  /** Puts a replay behind the other running replays. Never throws, so that the error of its failed step is not lost. */
  private async moveBack({ id }: Replay): Promise<void> {
    await this.replays.moveBack(id, this.clock.now()).catch((error: unknown) => {
      this.logger.error({ err: error, replay_id: id }, 'a failed replay was not moved back');
    });
  }
}
