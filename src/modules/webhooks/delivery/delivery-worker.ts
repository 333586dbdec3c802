import { randomInt } from 'node:crypto';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { isDatabaseUnavailable } from '../../../platform/database';
import { Jobs } from '../../../platform/jobs';
import { OutboundError, OutboundHttp } from '../../../platform/outbound';
import { EventLog, type RecordedEvent } from '../../../platform/outbox';
import { WebhookEndpointsService } from '../webhook-endpoints.service';
import { WebhookSecretsService } from '../webhook-secrets.service';
import { type ClaimedDelivery, DeliveriesRepository } from './deliveries.repository';
import type { Attempt } from './domain/delivery';
import { FAILING_LIMIT_MS } from './domain/retry-schedule';
import { judge, type Reply, type Verdict } from './domain/verdict';
import { notificationBody } from './notification';
import { type Receiver, ReceiversRepository } from './receivers.repository';
import { ResultWriter } from './result-writer';
import { signatureHeader } from './signature';

export const DELIVERY_WORK = 'webhook-deliveries';

const LEASE_MS = 60_000;
/** For everything an attempt takes: names, connection, request and answer. */
const DEADLINE_MS = 15_000;
/** Of each answer's body. */
const KEPT_BYTES = 20_000;
/**
 * Attempts under way in this process, to all endpoints and to one: each has a share of its own, which the others cannot
 * take however slow they are.
 */
const MOST_FOR_ALL = 512;
const MOST_FOR_ONE = 32;
const EVERY_MS = 500;

interface Ended {
  readonly attempt: Attempt;
  readonly reply: Reply;
}

/** Sends what is due, and writes down what came of it. No transaction is open while a receiver is asked. */
@Injectable()
export class DeliveryWorker implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('webhook-deliveries');
  private readonly underWay = new Map<string, number>();
  /** Attempts, and the rounds that start them. */
  private readonly busy = new Set<Promise<unknown>>();
  private stopping = false;

  constructor(
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly events: EventLog,
    private readonly receivers: ReceiversRepository,
    private readonly endpoints: WebhookEndpointsService,
    private readonly secrets: WebhookSecretsService,
    private readonly deliveries: DeliveriesRepository,
    private readonly results: ResultWriter,
    private readonly http: OutboundHttp,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: DELIVERY_WORK, idleMs: EVERY_MS, runDue: () => this.runDue() });
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.idle();
  }

  /** Claims what there is room for and starts sending it. Ended attempts wake the work again. */
  async runDue(): Promise<boolean> {
    if (this.stopping) return false;
    const round = this.claimAndStart();
    this.busy.add(round);
    try {
      await round;
    } finally {
      this.busy.delete(round);
    }
    return false;
  }

  /** Resolves once no attempt is under way. */
  async idle(): Promise<void> {
    while (this.busy.size > 0) await Promise.allSettled(this.busy);
  }

  private async claimAndStart(): Promise<void> {
    const now = this.clock.now();
    const receivers = await this.receivers.active();
    const capacities = this.roomFor(receivers);
    if (capacities.length === 0) return;
    const leaseEndsAt = new Date(now.getTime() + LEASE_MS);
    const claimed = await this.deliveries.claim(now, leaseEndsAt, capacities);
    if (claimed.length === 0) return;
    const byId = new Map(receivers.map((receiver) => [receiver.id, receiver]));
    const events = await this.events.find([...new Set(claimed.map(({ eventId }) => eventId))]);
    const secrets = await this.secretsOf(claimed, now);
    for (const delivery of claimed) {
      const receiver = byId.get(delivery.endpointId);
      const event = events.get(delivery.eventId);
      const keys = secrets.get(delivery.endpointId);
      // No secret at all: the endpoint was deleted, and its deliveries with it.
      const isGone = keys?.length === 0;
      if (receiver !== undefined && event !== undefined && keys !== undefined && !isGone) {
        this.start(delivery, receiver, event, keys);
      }
    }
  }

  private roomFor(receivers: readonly Receiver[]) {
    const share = Math.min(MOST_FOR_ONE, Math.trunc(MOST_FOR_ALL / receivers.length));
    return receivers.flatMap(({ id, ordered }) => {
      const free = share - (this.underWay.get(id) ?? 0);
      return free > 0 ? [{ endpointId: id, free, ordered }] : [];
    });
  }

  /** Null for an endpoint whose secrets cannot be opened: that must not keep the others from being told. */
  private async secretsOf(
    claimed: readonly ClaimedDelivery[],
    now: Date,
  ): Promise<ReadonlyMap<string, readonly string[] | null>> {
    const secrets = new Map<string, readonly string[] | null>();
    for (const id of new Set(claimed.map(({ endpointId }) => endpointId))) {
      try {
        secrets.set(id, await this.secrets.goodSecrets(id, now));
      } catch (error) {
        // That they cannot be read now says nothing of them: the leases end, and the deliveries are claimed again.
        if (isDatabaseUnavailable(error)) throw error;
        this.logger.error({ err: error, endpoint_id: id }, 'the secrets cannot be opened');
        secrets.set(id, null);
      }
    }
    return secrets;
  }

  private start(
    delivery: ClaimedDelivery,
    receiver: Receiver,
    event: RecordedEvent,
    secrets: readonly string[] | null,
  ): void {
    this.underWay.set(receiver.id, (this.underWay.get(receiver.id) ?? 0) + 1);
    const attempt = this.deliver(delivery, receiver, event, secrets)
      .catch((error: unknown) => {
        // The lease ends, and the delivery is claimed again.
        this.logger.error({ err: error, delivery_id: delivery.id }, 'an attempt was not recorded');
      })
      .finally(() => {
        this.busy.delete(attempt);
        this.underWay.set(receiver.id, (this.underWay.get(receiver.id) ?? 1) - 1);
        this.jobs.wake(DELIVERY_WORK);
      });
    this.busy.add(attempt);
  }

  private async deliver(
    delivery: ClaimedDelivery,
    receiver: Receiver,
    event: RecordedEvent,
    secrets: readonly string[] | null,
  ): Promise<void> {
    const { attempt, reply } =
      secrets === null
        ? notSent(this.clock.now(), 'secret: the secrets of the endpoint cannot be opened', 0)
        : await this.send(receiver.url, event, secrets);
    const chance = randomInt(1_000_001) / 1_000_000;
    const verdict = judge(reply, delivery.attempts + 1, this.clock.now(), chance);
    const counted = await this.results.write({
      delivery,
      attempt,
      status: verdict.status,
      dueAt: verdict.status === 'pending' ? verdict.dueAt : null,
    });
    if (counted) await this.noteHealth(receiver, verdict);
  }

  private async send(
    url: string,
    event: RecordedEvent,
    secrets: readonly string[],
  ): Promise<Ended> {
    const startedAt = this.clock.now();
    const timestamp = Math.trunc(startedAt.getTime() / 1_000);
    const body = notificationBody(event);
    const headers = {
      'webhook-id': event.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureHeader({ id: event.id, timestamp, body }, secrets),
    };
    try {
      const answer = await this.http.post({
        url,
        headers,
        body,
        deadlineMs: DEADLINE_MS,
        keepBytes: KEPT_BYTES,
      });
      const { status: statusCode, retryAfter, durationMs, bodyStart: responseStart } = answer;
      return {
        attempt: { startedAt, durationMs, statusCode, error: null, responseStart },
        reply: { statusCode, retryAfter },
      };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return notSent(startedAt, `${error.reason}: ${error.message}`, error.durationMs);
    }
  }

  /** Switches an endpoint off that is gone, or has given nothing but failures for too long. */
  private async noteHealth(receiver: Receiver, verdict: Verdict): Promise<void> {
    if (verdict.status === 'succeeded') return;
    if (verdict.status === 'discarded') {
      await this.endpoints.disable(receiver.id, 'gone');
      return;
    }
    const now = this.clock.now();
    if (!isTooLong(receiver.failingSince, now)) return;
    // What was read with the claim may be out of date: an attempt may have succeeded since.
    if (isTooLong(await this.receivers.failingSince(receiver.id), now)) {
      await this.endpoints.disable(receiver.id, 'failing');
    }
  }
}

function isTooLong(since: Date | null, now: Date): boolean {
  return since !== null && now.getTime() - since.getTime() >= FAILING_LIMIT_MS;
}

/** An attempt that brought no answer. */
function notSent(startedAt: Date, why: string, durationMs: number): Ended {
  const error = why.slice(0, 300);
  return {
    attempt: { startedAt, durationMs, statusCode: null, error, responseStart: null },
    reply: { statusCode: null },
  };
}
