import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import { ASKING_LEASE_MS } from './domain/payment';
import { PaymentsRepository } from './payments.repository';
import { PaymentsService } from './payments.service';

const AT_ONCE = 20;
const EVERY_MS = 1_000;

/** Finishes payments whose outcome is not known: left by a crash, by a call without an answer, or slow by nature. */
@Injectable()
export class DuePayments implements OnModuleInit {
  private readonly logger = new Logger('due-payments');

  constructor(
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly repository: PaymentsRepository,
    private readonly payments: PaymentsService,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'due-payments', idleMs: EVERY_MS, runDue: () => this.runDue() });
  }

  /** Claims and finishes some of what is due; returns whether there may be more. */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + ASKING_LEASE_MS);
    const ids = await this.repository.claimDue(now, leaseEndsAt, AT_ONCE);
    for (const id of ids) {
      try {
        await this.payments.resume(id);
      } catch (error) {
        this.logger.error({ err: error, payment_id: id }, 'a due payment was not finished');
      }
    }
    return ids.length === AT_ONCE;
  }
}
