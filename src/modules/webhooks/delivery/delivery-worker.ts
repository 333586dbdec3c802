import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Clock } from '../../../platform/clock';
import { ConcurrencyLimiter } from '../../../platform/concurrency';
import { Jobs } from '../../../platform/jobs';
import { EventLog, type RecordedEvent } from '../../../platform/outbox';
import { WebhookSecretsService } from '../webhook-secrets.service';
import { WAITING_DELIVERIES } from './deliveries.repository';
import type { ClaimedDelivery } from './domain/delivery';
import { DELIVERY_WORK, DeliveryClaims } from './delivery-claims';
import { DeliverySender } from './delivery-sender';
import { type Receiver, ReceiversRepository } from './receivers.repository';

/** Largest number of attempts in flight in this process. The active endpoints share it equally. */
const MAX_IN_FLIGHT = 512;
/** Largest number of attempts in flight to one endpoint, so that slow endpoints leave capacity for the others. */
const MAX_IN_FLIGHT_PER_ENDPOINT = 32;
/** Largest number of concurrent claims for ordered endpoints. Each claim uses one database connection. */
const ORDERED_CLAIMS = 4;
/** Length of the event data after which other work, such as requests to this process, gets a turn of the event loop. */
const MAX_LENGTH_IN_A_TURN = 1_000_000;
const EVERY_MS = 500;
/** Longest time that a run of the job waits for its claims. Slower claims continue in the background. */
const ROUND_MS = 100;

/** Endpoints whose deliveries are claimed together: all unordered endpoints, or one ordered endpoint. */
interface ClaimGroup {
  readonly key: string;
  readonly isOrdered: boolean;
  readonly receivers: readonly Receiver[];
}

/** Claims due deliveries and sends them. No transaction is open while a request is in flight. */
@Injectable()
export class DeliveryWorker implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('webhook-deliveries');
  /** Number of attempts in flight, by endpoint id. */
  private readonly inFlight = new Map<string, number>();
  /**
   * Running claims, by group key. The job skips a group whose claim is still running, and sets `isWanted`. The end of
   * the claim then wakes the job.
   */
  private readonly claiming = new Map<string, { isWanted: boolean }>();
  private readonly orderedClaims = new ConcurrencyLimiter(ORDERED_CLAIMS);
  private readonly busy = new Set<Promise<unknown>>();
  private stopping = false;

  constructor(
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly events: EventLog,
    private readonly receivers: ReceiversRepository,
    private readonly secrets: WebhookSecretsService,
    private readonly claims: DeliveryClaims,
    private readonly sender: DeliverySender,
  ) {}

  onModuleInit(): void {
    this.jobs.register({
      name: DELIVERY_WORK,
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
      isPrompt: true,
      waiting: WAITING_DELIVERIES,
    });
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.idle();
  }

  /**
   * Claims due deliveries up to the free capacity, and starts to send them. Skips a group of endpoints whose former
   * claim is still running, so that a slow claim does not delay other groups. When an attempt ends, the job runs again.
   */
  async runDue(): Promise<boolean> {
    const receivers = await this.receivers.listActive();
    if (this.stopping) return false;
    const claims = groupsOf(receivers).flatMap((group) => {
      const running = this.claiming.get(group.key);
      if (running === undefined) return [this.startClaim(group, receivers.length)];
      running.isWanted = true;
      return [];
    });
    let timer: NodeJS.Timeout | undefined;
    const isSlow = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ROUND_MS);
    });
    await Promise.race([Promise.all(claims), isSlow]);
    clearTimeout(timer);
    return false;
  }

  private startClaim(group: ClaimGroup, endpoints: number): Promise<void> {
    const state = { isWanted: false };
    this.claiming.set(group.key, state);
    const claimAndStart = () => this.claimAndStart(group.receivers, endpoints);
    const running = group.isOrdered ? this.orderedClaims.run(claimAndStart) : claimAndStart();
    const claim = running
      .catch((error: unknown) => {
        this.logger.error({ err: error, group: group.key }, 'cannot claim webhook deliveries');
      })
      .finally(() => {
        this.claiming.delete(group.key);
        this.busy.delete(claim);
        if (state.isWanted) this.jobs.wake(DELIVERY_WORK);
      });
    this.busy.add(claim);
    return claim;
  }

  /** Resolves when no claim and no attempt is in flight. */
  async idle(): Promise<void> {
    while (this.busy.size > 0) await Promise.allSettled(this.busy);
  }

  /** @param endpoints number of all active endpoints, which share the capacity of this process */
  private async claimAndStart(receivers: readonly Receiver[], endpoints: number): Promise<void> {
    if (this.stopping) return;
    const now = this.clock.now();
    const capacities = this.capacitiesOf(receivers, endpoints);
    if (capacities.length === 0) return;
    const claimed = await this.claims.claim(now, capacities);
    if (claimed.length === 0) return;
    const byId = new Map(receivers.map((receiver) => [receiver.id, receiver]));
    const events = await this.events.find([...new Set(claimed.map(({ eventId }) => eventId))]);
    const secrets = await this.secrets.validSecretsByEndpoint(
      [...new Set(claimed.map(({ endpointId }) => endpointId))],
      now,
    );
    let lengthInTurn = 0;
    for (const delivery of claimed) {
      const receiver = byId.get(delivery.endpointId);
      const event = events.get(delivery.eventId);
      const keys = secrets.get(delivery.endpointId);
      // If the endpoint was deleted, it has no secrets, nothing is sent, and its deliveries are discarded. If its
      // secrets could not be decrypted, nothing is sent either. The delivery is then claimed again when its lease ends,
      // and no attempt is counted.
      if (receiver !== undefined && event !== undefined && keys !== undefined) {
        this.start(delivery, receiver, event, keys);
        lengthInTurn += event.data?.length ?? 0;
      }
      if (lengthInTurn < MAX_LENGTH_IN_A_TURN) continue;
      await nextTurn();
      lengthInTurn = 0;
    }
  }

  private capacitiesOf(receivers: readonly Receiver[], endpoints: number) {
    const share = Math.min(MAX_IN_FLIGHT_PER_ENDPOINT, Math.trunc(MAX_IN_FLIGHT / endpoints));
    return receivers.flatMap(({ id, ordered }) => {
      const free = share - (this.inFlight.get(id) ?? 0);
      return free > 0 ? [{ endpointId: id, free, ordered }] : [];
    });
  }

  private start(
    delivery: ClaimedDelivery,
    receiver: Receiver,
    event: RecordedEvent,
    secrets: readonly string[],
  ): void {
    this.inFlight.set(receiver.id, (this.inFlight.get(receiver.id) ?? 0) + 1);
    const attempt = this.sender
      .deliver(delivery, receiver, event, secrets)
      .catch((error: unknown) => {
        // The delivery is claimed again when the lease ends.
        this.logger.error({ err: error, delivery_id: delivery.id }, 'webhook attempt not recorded');
      })
      .finally(() => {
        this.busy.delete(attempt);
        const others = (this.inFlight.get(receiver.id) ?? 1) - 1;
        if (others > 0) this.inFlight.set(receiver.id, others);
        else this.inFlight.delete(receiver.id);
        this.jobs.wake(DELIVERY_WORK);
      });
    this.busy.add(attempt);
  }
}

function groupsOf(receivers: readonly Receiver[]): readonly ClaimGroup[] {
  const unordered = receivers.filter(({ ordered }) => !ordered);
  return [
    { key: 'unordered', isOrdered: false, receivers: unordered },
    ...receivers
      .filter(({ ordered }) => ordered)
      .map((receiver) => ({ key: receiver.id, isOrdered: true, receivers: [receiver] })),
  ];
}
