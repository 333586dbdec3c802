import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import { AskingLanes } from './asking-lanes';
import { ASKING_LEASE_MS } from './domain/payment';
import { PaymentsRepository } from './payments.repository';
import { PaymentsService } from './payments.service';

const WORK = 'due-payments';
const EVERY_MS = 1_000;

/** Finishes payments whose outcome is not known: left by a crash, by a call without an answer, or slow by nature. */
@Injectable()
export class DuePayments implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(WORK);
  private readonly lanes = new AskingLanes({
    claim: (most) => this.claim(most),
    ask: (id) => this.finish(id),
    onFree: () => {
      this.jobs.wake(WORK);
    },
  });

  constructor(
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly repository: PaymentsRepository,
    private readonly payments: PaymentsService,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: WORK, idleMs: EVERY_MS, runDue: () => this.runDue() });
  }

  onModuleDestroy(): void {
    this.lanes.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.idle();
  }

  /** Claims what there are free lanes for and starts finishing it. What has ended wakes the work again. */
  async runDue(): Promise<boolean> {
    await this.lanes.fill();
    return false;
  }

  /** Resolves once nothing is being finished. */
  idle(): Promise<void> {
    return this.lanes.idle();
  }

  private claim(most: number): Promise<readonly string[]> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + ASKING_LEASE_MS);
    return this.repository.claimDue(now, leaseEndsAt, most);
  }

  private async finish(id: string): Promise<void> {
    try {
      await this.payments.resume(id);
    } catch (error) {
      this.logger.error({ err: error, payment_id: id }, 'a due payment was not finished');
    }
  }
}
