import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/clock';
import { Jobs } from '../../platform/jobs';
import { ASKING_LEASE_MS } from '../payments';
import { RefundsRepository } from './refunds.repository';
import { RefundsService } from './refunds.service';

const AT_ONCE = 20;
const EVERY_MS = 1_000;

/** Finishes refunds that are pending: left by a crash, by a call without an answer, or slow by nature. */
@Injectable()
export class DueRefunds implements OnModuleInit {
  private readonly logger = new Logger('due-refunds');

  constructor(
    private readonly jobs: Jobs,
    private readonly clock: Clock,
    private readonly repository: RefundsRepository,
    private readonly refunds: RefundsService,
  ) {}

  onModuleInit(): void {
    this.jobs.register({ name: 'due-refunds', idleMs: EVERY_MS, runDue: () => this.runDue() });
  }

  /** Claims and finishes some of what is due; returns whether there may be more. */
  async runDue(): Promise<boolean> {
    const now = this.clock.now();
    const leaseEndsAt = new Date(now.getTime() + ASKING_LEASE_MS);
    const ids = await this.repository.claimDue(now, leaseEndsAt, AT_ONCE);
    for (const id of ids) {
      try {
        await this.refunds.resume(id);
      } catch (error) {
        this.logger.error({ err: error, refund_id: id }, 'a due refund was not finished');
      }
    }
    return ids.length === AT_ONCE;
  }
}
