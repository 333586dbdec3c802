import {
  type BeforeApplicationShutdown,
  Inject,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import {
  AbandonedWork,
  type HeldLease,
  ProcessSession,
  ReturnedLeases,
} from '../../platform/processes';
import { traced } from '../../platform/tracing';
import { PollingLimiter } from './polling-limiter';
import { pollLease, type Lease } from './domain/poll-lease';

const EVERY_MS = 1_000;

/** Repository of objects whose outcome is not final. */
export interface PolledRepository {
  /** Table with the columns `due_at`, `leased_by` and `attempts`. */
  readonly table: string;
  /**
   * Claims up to `limit` due objects for the lease, plans their next attempt, and returns their ids. A failed attempt keeps its
   * lease, because the next one is planned. Without this method, `ReturnedLeases` claims due rows, and plans the next attempt of
   * one that failed.
   */
  readonly claimAndPlanRetry?: (
    now: Date,
    lease: Lease,
    limit: number,
  ) => Promise<readonly string[]>;
}

/** Id of an object, with the end of its lease. */
type Claimed = Omit<HeldLease, 'table'>;

/** Service that asks the provider about one object and stores the answer. */
export interface PolledService {
  readonly resume: (id: string) => Promise<unknown>;
}

/** Background work that asks providers about objects without a final outcome, a few at once. */
export abstract class ProviderPoller
  implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown
{
  @Inject() protected readonly jobs!: Jobs;
  @Inject() private readonly clock!: Clock;
  @Inject() private readonly session!: ProcessSession;
  @Inject() private readonly leases!: ReturnedLeases;
  @Inject() private readonly abandoned!: AbandonedWork;
  private readonly logger: Logger;
  private readonly limiter = new PollingLimiter<Claimed>({
    claim: (limit) => this.claim(limit),
    poll: (claimed) => this.finish(claimed),
    onFree: () => {
      this.jobs.wake(this.name);
    },
  });

  protected constructor(
    private readonly name: string,
    private readonly repository: PolledRepository,
    private readonly service: PolledService,
  ) {
    this.logger = new Logger(name);
  }

  onModuleInit(): void {
    const { table } = this.repository;
    this.jobs.register({
      name: this.name,
      idleMs: EVERY_MS,
      runDue: () => this.runDue(),
      waiting: { table, dueAt: 'due_at' },
    });
    this.abandoned.register({ table, leaseColumn: 'due_at', work: this.name });
  }

  onModuleDestroy(): void {
    this.limiter.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.idle();
  }

  /** Claims as many objects as may be polled now. Runs again as soon as one of them is done. */
  async runDue(): Promise<boolean> {
    await this.limiter.fill();
    return false;
  }

  /** Resolves once no object is being polled. */
  idle(): Promise<void> {
    return this.limiter.idle();
  }

  private async claim(limit: number): Promise<readonly Claimed[]> {
    const owner = await this.session.requireNumber();
    const now = this.clock.now();
    const lease = pollLease(now, owner);
    const { repository } = this;
    const ids = await (repository.claimAndPlanRetry?.(now, lease, limit) ??
      this.leases.claim(repository.table, lease, limit));
    return ids.map((id) => ({ id, endsAt: lease.endsAt }));
  }

  private async finish({ id, endsAt }: Claimed): Promise<void> {
    try {
      const { table, claimAndPlanRetry } = this.repository;
      const isRetryPlanned = claimAndPlanRetry !== undefined;
      const work = (): Promise<unknown> => this.service.resume(id);
      await traced({ name: this.name, isRoot: true }, () =>
        isRetryPlanned ? work() : this.leases.finish({ table, id, endsAt }, work),
      );
    } catch (error) {
      this.logger.error({ err: error, object_id: id }, 'due work was not finished');
    }
  }
}
