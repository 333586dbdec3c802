import { Inject, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { AbandonedWork, ProcessSession, ReturnedLeases } from '../../platform/processes';
import { traced } from '../../platform/tracing';
import { LimitedPoller } from './limited-poller';
import { type Lease, pollLease } from './domain/poll-lease';

const EVERY_MS = 1_000;

/** Repository of objects that are polled until their outcome is final, such as payments. */
export interface PolledRepository {
  /** Table with the columns `due_at`, `leased_by` and `attempts`. */
  readonly table: string;
}

interface Claimed {
  readonly id: string;
  readonly endsAt: Date;
}

export interface PolledService {
  /** Asks the provider about one object and stores the answer. Returns false if the object must be polled again soon. */
  readonly resume: (id: string) => Promise<unknown>;
}

/**
 * Background work that asks providers about payments, refunds and other objects without a final outcome, a few at once.
 */
export abstract class ProviderPoller extends LimitedPoller<Claimed> implements OnModuleInit {
  @Inject() protected readonly clock!: Clock;
  @Inject() private readonly session!: ProcessSession;
  @Inject() protected readonly leases!: ReturnedLeases;
  @Inject() protected readonly abandoned!: AbandonedWork;
  private readonly logger: Logger;

  protected constructor(
    name: string,
    private readonly repository: PolledRepository,
    private readonly service: PolledService,
  ) {
    super(name);
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

  /** Starts to poll as many due objects as may be polled now. The job runs again when one of these polls has ended. */
  async runDue(): Promise<boolean> {
    await this.fill();
    return false;
  }

  protected async claim(limit: number): Promise<readonly Claimed[]> {
    const lease = await this.lease();
    const ids = await this.leases.claim(this.repository.table, lease, limit);
    return ids.map((id) => ({ id, endsAt: lease.endsAt }));
  }

  protected async lease(): Promise<Lease> {
    const owner = await this.session.requireNumber();
    return pollLease(this.clock.now(), owner);
  }

  protected async poll(claimed: Claimed): Promise<void> {
    await this.tryToPoll(claimed);
  }

  /** Polls one object. Logs and returns the error if the poll fails, otherwise returns null. */
  protected async tryToPoll({ id, endsAt }: Claimed): Promise<unknown> {
    try {
      const { table } = this.repository;
      await traced({ name: this.name, isRoot: true }, () =>
        this.leases.finish({ table, ids: [id], endsAt }, () => this.service.resume(id)),
      );
      return null;
    } catch (error) {
      this.logger.error({ err: error, object_id: id }, 'due work was not finished');
      return error;
    }
  }
}
